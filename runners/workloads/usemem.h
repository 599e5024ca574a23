/* SPDX-License-Identifier: GPL-3.0-or-later */
/* usemem: allocate memory, touch it in a chosen way, and say how fast that was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define USEMEM_CHUNKS_FREED 32

/** struct usemem_opts - the command line; sizes in bytes. */
struct usemem_opts {
	size_t size, unit, step;
	unsigned long nproc, threads, bind, repeat, runtime_s;
	uint64_t delay_ns, seed, offset;
	long sleep_s;
	const char *file, *pid_file;
	bool use_malloc, anonymous, hugetlb, prefault, prealloc, random, has_seed;
	bool readonly, open_rw, sync_rw, sync_free, msync, msync_async, mlock, remap;
	bool read_again, detach, quiet, init_time;
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

/** usemem_usecs() - microseconds since @since. */
uint64_t usemem_usecs(const struct timespec *since);
