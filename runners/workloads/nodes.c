/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/nodes.h"

#include "runners/workloads/harness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODE_DIR "/sys/devices/system/node"

void cpu_list_each(const char *list, void (*fn)(int nr, void *arg), void *arg)
{
	const char *p = list;
	char *end;

	for (;;) {
		long a = strtol(p, &end, 10), b = a;

		if (end == p || a < 0)
			return;
		if (*end == '-') {
			p = end + 1;
			b = strtol(p, &end, 10);
			if (end == p)
				return;
		}
		for (long i = a; i <= b && i < INT_MAX; i++)
			fn((int)i, arg);
		if (*end != ',')
			return;
		p = end + 1;
	}
}

struct found {
	int *nodes;
	size_t n, max;
};

static void add_node(int nr, void *arg)
{
	struct found *f = arg;

	if (f->n < f->max && nr < NODES_MAX)
		f->nodes[f->n++] = nr;
}

size_t nodes_read(int *ret, size_t max)
{
	struct found found = { .nodes = ret, .max = max };
	FILE *f = fopen(NODE_DIR "/has_memory", "re");
	char list[1024];

	if (f) {
		if (fgets(list, sizeof(list), f))
			cpu_list_each(list, add_node, &found);
		(void)fclose(f);
	}
	/* A kernel without NUMA is one node. */
	if (found.n == 0)
		ret[found.n++] = 0;
	return found.n;
}

void node_mask_set(struct node_mask *m, int node)
{
	const size_t bits = 8 * sizeof(unsigned long);

	if (node >= 0 && node < NODES_MAX)
		m->bits[(size_t)node / bits] |= 1UL << ((size_t)node % bits);
}

void memory_policy(int mode, const struct node_mask *m)
{
	must(syscall(SYS_set_mempolicy, mode, m->bits, (unsigned long)NODES_MAX) == 0,
	     "set_mempolicy");
}
