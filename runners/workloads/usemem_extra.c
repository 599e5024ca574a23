/* SPDX-License-Identifier: GPL-3.0-or-later */
/* usemem: what options ask for beside the passes over the memory. */
#include "runners/workloads/harness.h"
#include "runners/workloads/nodes.h"
#include "runners/workloads/topology.h"
#include "runners/workloads/usemem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)

static void add_cpu(int nr, void *arg)
{
	cpu_mask_set(arg, nr);
}

static void place_on_node(long node)
{
	struct cpu_mask mask = { 0 };
	char path[96], list[1024];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%ld/cpulist", node);
	f = fopen(path, "re");
	if (!f || !fgets(list, sizeof(list), f))
		die("NUMA node %ld: %m", node);
	(void)fclose(f);
	cpu_list_each(list, add_cpu, &mask);
	cpu_mask_apply(&mask);
}

void usemem_place(const struct usemem *u, unsigned long nr)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct node_mask nodes = { 0 };
	struct cpu_mask mask = { 0 };

	if (u->opts.bind > 0 && cpus > 0) {
		cpu_mask_set(&mask, (int)(nr * u->opts.bind % (unsigned long)cpus));
		cpu_mask_apply(&mask);
	}
	if (u->opts.numa_cpu >= 0)
		place_on_node(u->opts.numa_cpu);
	if (u->opts.numa_memory >= 0) {
		node_mask_set(&nodes, (int)u->opts.numa_memory);
		memory_policy(MPOL_BIND, &nodes);
	}
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Gone when the last process that has it attached ends, whatever that dies of. */
static char *attach_segment(size_t bytes, int flags, int *ret_id)
{
	int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600 | flags);
	char *p;

	must(id >= 0, "shmget");
	p = shmat(id, NULL, 0);
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): what shmat() returns */
	if (p == (void *)-1)
		p = NULL;
	(void)shmctl(id, IPC_RMID, NULL);
	must(p, "shmat");
	*ret_id = id;
	return p;
}

static void touch(char *p, size_t bytes, size_t step, bool readonly)
{
	for (size_t at = 0; at < bytes; at += step) {
		if (readonly)
			(void)*(volatile char *)(p + at);
		else
			*(volatile char *)(p + at) = 0;
	}
}

void usemem_shm_lock(const struct usemem *u)
{
	char *p;
	int id;

	p = attach_segment(u->opts.size, 0, &id);
	touch(p, u->opts.size, page_bytes(), false);
	must(shmctl(id, SHM_LOCK, NULL) == 0, "lock of a shared segment");
	must(shmctl(id, SHM_UNLOCK, NULL) == 0, "unlock of a shared segment");
	must(shmdt(p) == 0, "shmdt");
}

static void ask_mincore(char *p, size_t bytes)
{
	unsigned char *pages = malloc(bytes / page_bytes() + 1);

	must(pages, "list of pages");
	must(mincore(p, bytes, pages) == 0, "mincore");
	free(pages);
}

static void advise(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		die("%s: %m", file);
	r = posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
	if (r == 0)
		r = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (r != 0)
		die_code(r, "posix_fadvise");
	(void)close(fd);
}

bool usemem_without_pass(const struct usemem *u)
{
	const struct usemem_opts *o = &u->opts;
	char *p;
	int id;

	if (o->advise)
		advise(o->advise);
	if (o->mincore && u->prealloc)
		ask_mincore(u->prealloc, o->size);
	if (o->mincore_huge && o->size > 0) {
		p = attach_segment(o->size, SHM_HUGETLB, &id);
		touch(p, o->size, HUGE_BYTES, false);
		ask_mincore(p, o->size);
		(void)shmdt(p);
	}
	return o->mincore || o->mincore_huge;
}

void usemem_mapped(const struct usemem *u, char *p, size_t bytes)
{
	const struct usemem_opts *o = &u->opts;
	char line[96];
	int n;

	if (o->show_addr) {
		n = snprintf(line, sizeof(line), "mapped at %p to %p\n", (void *)p,
			     (void *)(p + bytes));
		must(write(STDOUT_FILENO, line, (size_t)n) == n, "output");
	}
	if (o->madv_thp)
		must(madvise(p, bytes, MADV_HUGEPAGE) == 0, "madvise");
	if (o->touch_alloc)
		touch(p, bytes, page_bytes(), o->readonly && !o->open_rw);
}

void usemem_page_out(const struct task *t)
{
	size_t bytes;
	char *p;

	for (size_t k = 0; (p = usemem_chunk(t, k, &bytes)); k++)
		must(madvise(p, bytes, MADV_PAGEOUT) == 0, "madvise");
}

/* Every second page is given back; of a file that is shared, it becomes a hole. */
void usemem_punch_holes(const struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	int advice = o->file || o->memfd ? MADV_REMOVE : MADV_DONTNEED;
	size_t page = o->hugetlb ? HUGE_BYTES : t->page, bytes;
	char *p;

	for (size_t k = 0; (p = usemem_chunk(t, k, &bytes)); k++)
		for (size_t at = page; at + page <= bytes; at += 2 * page)
			must(madvise(p + at, page, advice) == 0, "hole");
}

/*
 * All threads of a process wait for a signal that is sent to it once: each that got it passes it on
 * to the next.
 */
static void await_signal(const struct usemem_opts *o)
{
	static unsigned long woken;
	sigset_t set;
	int sig;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	must(sigwait(&set, &sig) == 0, "wait for the signal");
	if (o->threads > 1 && __atomic_add_fetch(&woken, 1, __ATOMIC_SEQ_CST) % o->threads != 0)
		(void)kill(getpid(), SIGUSR1);
}

static uint64_t signal_pass(struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	size_t step = o->step / sizeof(uint64_t), size;
	bool random = o->signal_random || o->random;
	uint64_t bytes = 0;
	char *p;

	for (size_t k = 0; (p = usemem_chunk(t, k, &size)); k++) {
		volatile uint64_t *w = (volatile uint64_t *)(void *)p;
		size_t words = size / sizeof(*w);

		for (size_t i = 0; i < words; i += step) {
			size_t at = random ? usemem_random_word(t, words) / step * step : i;

			if (o->signal_write)
				w[at] = at;
			else if (w[at] != at && o->signal_verify)
				die("word %zu does not hold its number after the signal", at);
			bytes += sizeof(*w);
		}
	}
	return bytes;
}

void usemem_on_signal(struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	struct timespec since;
	uint64_t bytes;
	char line[96];
	int n;

	do {
		n = snprintf(line, sizeof(line), "%s Process %d is waiting signal\n",
			     o->signal_write ? "Write" : "Read", (int)getpid());
		must(write(STDOUT_FILENO, line, (size_t)n) == n, "output");
		await_signal(o);
		(void)clock_gettime(CLOCK_MONOTONIC, &since);
		bytes = 0;
		for (unsigned long i = 0; i < o->signal_reads; i++)
			bytes += signal_pass(t);
		if (o->size > 0)
			usemem_print_rate("", bytes, usemem_usecs(&since));
	} while (o->signal_loop);
}

void usemem_wait_for_key(void)
{
	char c;
	ssize_t n;

	(void)fprintf(stderr, "usemem: a line on stdin goes on\n");
	do
		n = read(STDIN_FILENO, &c, 1);
	while ((n < 0 && errno == EINTR) || (n == 1 && c != '\n'));
}
