/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS (8 * sizeof(unsigned long))

/* Where a CPU is; each number is the lowest CPU of the group, and is its own if /sys is silent. */
struct place {
	int cpu;
	int key[4]; /* package, die, L3, core */
};

void cpu_mask_set(struct cpu_mask *m, int cpu)
{
	if (cpu >= 0 && cpu < TOPOLOGY_CPUS_MAX)
		m->bits[(size_t)cpu / WORD_BITS] |= 1UL << ((size_t)cpu % WORD_BITS);
}

bool cpu_mask_isset(const struct cpu_mask *m, int cpu)
{
	return cpu >= 0 && cpu < TOPOLOGY_CPUS_MAX &&
	       (m->bits[(size_t)cpu / WORD_BITS] >> ((size_t)cpu % WORD_BITS) & 1);
}

void cpu_mask_apply(const struct cpu_mask *m)
{
	static const struct cpu_mask none;

	/* A CPU can have gone offline since: then the task runs where it may. */
	if (memcmp(m, &none, sizeof(none)) != 0)
		(void)sched_setaffinity(0, sizeof(*m), (const cpu_set_t *)(const void *)m);
}

/* First number of a CPU list such as "0-3,8"; -1 if there is none. */
static int first_cpu(const char *dir, int cpu, const char *name)
{
	char path[512], text[32];
	char *end = text;
	long v = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/cpu%d/%s", dir, cpu, name);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fgets(text, sizeof(text), f))
		v = strtol(text, &end, 10);
	(void)fclose(f);
	return end > text && v >= 0 && v < TOPOLOGY_CPUS_MAX ? (int)v : -1;
}

/* The older kernels call the lists by other names. */
static int group_of(const char *dir, int cpu, const char *name, const char *old_name, int otherwise)
{
	int v = first_cpu(dir, cpu, name);

	if (v < 0 && old_name)
		v = first_cpu(dir, cpu, old_name);
	return v < 0 ? otherwise : v;
}

static void place_read(struct place *p, const char *dir, int cpu)
{
	p->cpu = cpu;
	p->key[0] =
		group_of(dir, cpu, "topology/package_cpus_list", "topology/core_siblings_list", 0);
	p->key[1] = group_of(dir, cpu, "topology/die_cpus_list", NULL, p->key[0]);
	p->key[2] = group_of(dir, cpu, "cache/index3/shared_cpu_list", NULL, p->key[1]);
	p->key[3] =
		group_of(dir, cpu, "topology/core_cpus_list", "topology/thread_siblings_list", cpu);
}

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < 4; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void topology_read(struct topology *t, const struct cpu_mask *own, const char *dir)
{
	struct place *places = NULL;

	*t = (struct topology){ .own = *own };
	for (int cpu = 0; cpu < TOPOLOGY_CPUS_MAX; cpu++) {
		if (!cpu_mask_isset(&t->own, cpu))
			continue;
		places = realloc(places, (t->n + 1) * sizeof(*places));
		if (!places)
			abort();
		place_read(&places[t->n++], dir, cpu);
	}
	if (t->n == 0)
		return;
	qsort(places, t->n, sizeof(*places), place_compare);
	t->cpus = calloc(t->n, sizeof(int));
	t->core = calloc(t->n, sizeof(int));
	if (!t->cpus || !t->core)
		abort();
	for (size_t i = 0; i < t->n; i++) {
		t->cpus[i] = places[i].cpu;
		if (i == 0 || places[i].key[3] != places[i - 1].key[3])
			t->cores++;
		t->core[i] = (int)t->cores - 1;
	}
	free(places);
}

void topology_init(struct topology *t)
{
	struct cpu_mask own = { 0 };

	/* Fails where CPUs are numbered beyond the maximum; nothing is pinned then. */
	if (sched_getaffinity(0, sizeof(own), (cpu_set_t *)(void *)&own) < 0)
		own = (struct cpu_mask){ 0 };
	topology_read(t, &own, TOPOLOGY_DIR);
}

void topology_done(struct topology *t)
{
	free(t->cpus);
	free(t->core);
	*t = (struct topology){ 0 };
}

struct cpu_mask topology_mask(const struct topology *t, unsigned nr, bool pu)
{
	struct cpu_mask m = { 0 };

	if (t->n == 0)
		return m;
	if (pu) {
		cpu_mask_set(&m, t->cpus[nr % t->n]);
		return m;
	}
	for (size_t i = 0; i < t->n; i++)
		if ((size_t)t->core[i] == nr % t->cores)
			cpu_mask_set(&m, t->cpus[i]);
	return m;
}
