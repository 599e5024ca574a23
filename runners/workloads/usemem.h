/* SPDX-License-Identifier: GPL-3.0-or-later */
/* usemem: allocate memory, touch it in a chosen way, and say how fast that was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define USEMEM_CHUNKS_FREED 32

/**
 * struct usemem_opts - the command line; sizes in bytes.
 * @advise: file of -D, which stands where SIZE stands otherwise.
 * @numa_cpu, @numa_memory: -1 where not given.
 */
struct usemem_opts {
	size_t size, unit, step;
	unsigned long nproc, threads, bind, repeat, runtime_s;
	uint64_t delay_ns, seed, offset;
	unsigned long signal_reads;
	long sleep_s, numa_cpu, numa_memory;
	const char *file, *pid_file, *advise;
	bool use_malloc, anonymous, hugetlb, prefault, prealloc, random, has_seed;
	bool readonly, open_rw, sync_rw, sync_free, msync, msync_async, mlock, remap;
	bool read_again, detach, quiet, init_time, interactive;
	bool shm_lock, mincore, mincore_huge, touch_alloc, punch_holes, memfd;
	bool madv_thp, madv_pageout, show_addr, first_speed;
	bool wait_signal, signal_random, signal_verify, signal_write, signal_loop;
};

/**
 * struct usemem - one run.
 * @fd: file to map, -1 for anonymous memory.
 * @start: when the clock was started, before anything is mapped or any task made.
 * @prealloc: the mapping that all tasks share, or NULL.
 * @gates: the places where tasks wait for one another.
 */
struct usemem {
	struct usemem_opts opts;
	int fd;
	struct timespec start;
	char *prealloc;
	struct usemem_gate {
		int ready[2], go[2];
	} gates[2];
};

enum {
	GATE_START,
	GATE_FREE
};

/** usemem_main() - the program. Return: exit status, 1 for wrong usage or a task that failed. */
int usemem_main(int argc, char **argv);

/** usemem_options() - read the command line. Return: false (after a usage text) if it is wrong. */
bool usemem_options(int argc, char **argv, struct usemem_opts *ret);

/** usemem_map() - a mapping of @bytes at @offset of the file, as the options want it; or dies. */
char *usemem_map(const struct usemem *u, size_t bytes, uint64_t offset);

/** usemem_gate_wait() - say that this task has come to @gate, and wait for the others. */
void usemem_gate_wait(const struct usemem *u, int gate);

/** usemem_task() - the work of task @nr. */
void usemem_task(const struct usemem *u, unsigned long nr);

/* ---- usemem_work.c: pieces that the phases after the first pass need too ---- */

/**
 * struct task - one task at work.
 * @chunks, @n: what it mapped itself. @bytes: credit for what it allocated and accessed.
 * @first_bytes, @first_usecs: of the first pass over each chunk.
 * @late: the time is up.
 */
struct task {
	const struct usemem *u;
	char **chunks;
	size_t n;
	uint64_t bytes, random, first_bytes, first_usecs;
	size_t page;
	bool late;
};

/** usemem_chunk() - chunk number @k of @t, its size in *@ret_bytes; NULL after the last. */
char *usemem_chunk(const struct task *t, size_t k, size_t *ret_bytes);

/** usemem_random_word() - a number below @n. */
size_t usemem_random_word(struct task *t, size_t n);

/** usemem_print_rate() - "PREFIXB bytes / U usecs = K KB/s". */
void usemem_print_rate(const char *prefix, uint64_t bytes, uint64_t usecs);

/* ---- usemem_extra.c: what options ask for beside the accesses ---- */

/** usemem_place() - --bind and --numa-* for the calling task @nr. */
void usemem_place(const struct usemem *u, unsigned long nr);

/** usemem_shm_lock() - -L: a shared segment of the size is filled, locked and unlocked. */
void usemem_shm_lock(const struct usemem *u);

/** usemem_without_pass() - -N, -H, -D. Return: true if the task has nothing else to do. */
bool usemem_without_pass(const struct usemem *u);

/** usemem_mapped() - what is done with @bytes at @p right after they were mapped. */
void usemem_mapped(const struct usemem *u, char *p, size_t bytes);

/** usemem_page_out(), usemem_punch_holes() - for all that @t has mapped. */
void usemem_page_out(const struct task *t);
void usemem_punch_holes(const struct task *t);

/** usemem_on_signal() - -W: wait for SIGUSR1, pass over the memory once more, print a line. */
void usemem_on_signal(struct task *t);

/** usemem_wait_for_key() - -g: a line on stdin. */
void usemem_wait_for_key(void);

/** usemem_usecs() - microseconds since @since. */
uint64_t usemem_usecs(const struct timespec *since);
