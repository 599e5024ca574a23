/* SPDX-License-Identifier: GPL-3.0-or-later */
/* usemem: what one task does. */
#include "runners/workloads/harness.h"
#include "runners/workloads/topology.h"
#include "runners/workloads/usemem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Words of loop index between two looks at the clock. */
#define CLOCK_WORDS 65536

/*
 * struct task - one task at work.
 * chunks, n: what it mapped itself. bytes: credit for what it allocated and accessed.
 * late: the time is up.
 */
struct task {
	const struct usemem *u;
	char **chunks;
	size_t n;
	uint64_t bytes, random;
	size_t page;
	bool late;
};

uint64_t usemem_usecs(const struct timespec *since)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)((now.tv_sec - since->tv_sec) * 1000000L +
			  (now.tv_nsec - since->tv_nsec) / 1000);
}

/* Whole seconds, and more than the limit: the limit is overrun by up to one second. */
static bool time_is_up(const struct usemem *u)
{
	struct timespec now;

	if (u->opts.runtime_s == 0)
		return false;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - u->start.tv_sec > (time_t)u->opts.runtime_s;
}

char *usemem_map(const struct usemem *u, size_t bytes, uint64_t offset)
{
	const struct usemem_opts *o = &u->opts;
	int prot = o->readonly && !o->open_rw ? PROT_READ : PROT_READ | PROT_WRITE;
	int flags = o->file ? MAP_SHARED : MAP_PRIVATE;
	char *p;

	if (o->use_malloc) {
		p = malloc(bytes);
		if (!p)
			die("malloc failed: %m");
		return p;
	}
	if (o->anonymous || u->fd < 0)
		flags |= MAP_ANONYMOUS;
	if (o->hugetlb)
		flags |= MAP_HUGETLB | 21 << MAP_HUGE_SHIFT;
	if (o->prefault)
		flags |= MAP_POPULATE;
	p = mmap(NULL, bytes, prot, flags, flags & MAP_ANONYMOUS ? -1 : u->fd, (off_t)offset);
	if (p == MAP_FAILED)
		die("mmap failed: %m");
	return p;
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Words below @n, all equally likely but for an error of n / 2^64. */
static size_t random_word(struct task *t, size_t n)
{
	return (size_t)((unsigned __int128)next_random(&t->random) * n >> 64);
}

static void access_word(const struct task *t, volatile uint64_t *p, size_t i, bool check)
{
	if (t->u->opts.readonly) {
		(void)p[i];
		return;
	}
	if (check && p[i] != i)
		die("word %zu holds %llu after a pass", i, (unsigned long long)p[i]);
	p[i] = i;
}

/* With --delay the task stays on each page that it comes to. */
static void stay(const struct task *t, volatile uint64_t *p, size_t i)
{
	struct timespec since, now;
	uint64_t ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	do {
		access_word(t, p, i, false);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		ns = (uint64_t)((now.tv_sec - since.tv_sec) * 1000000000L + now.tv_nsec -
				since.tv_nsec);
	} while (ns < t->u->opts.delay_ns);
}

/* One pass over @bytes at @base. @check: an earlier pass has stored the indexes. */
static void pass(struct task *t, char *base, size_t bytes, bool check)
{
	volatile uint64_t *p = (volatile uint64_t *)(void *)base;
	size_t words = bytes / sizeof(*p), step = t->u->opts.step / sizeof(*p);
	size_t look = CLOCK_WORDS, last_page = SIZE_MAX;

	for (size_t i = 0; i < words; i += step) {
		size_t at = t->u->opts.random ? random_word(t, words) : i;

		access_word(t, p, at, check);
		t->bytes += sizeof(*p);
		if (t->u->opts.delay_ns > 0 && at * sizeof(*p) / t->page != last_page) {
			last_page = at * sizeof(*p) / t->page;
			stay(t, p, at);
		}
		if (i >= look) {
			look = i + CLOCK_WORDS;
			if (time_is_up(t->u)) {
				t->late = true;
				return;
			}
		}
	}
}

static void sync_chunk(const struct task *t, char *p, size_t bytes)
{
	if (t->u->opts.msync)
		must(msync(p, bytes, MS_SYNC) == 0, "msync");
	if (t->u->opts.msync_async)
		must(msync(p, bytes, MS_ASYNC) == 0, "msync");
}

static void work_on(struct task *t, char *p, size_t bytes)
{
	const struct usemem_opts *o = &t->u->opts;

	for (unsigned long r = 0; r < o->repeat && !t->late; r++) {
		pass(t, p, bytes, r > 0 && !o->random);
		sync_chunk(t, p, bytes);
	}
	if (time_is_up(t->u))
		t->late = true;
}

static size_t chunk_bytes(const struct usemem_opts *o, size_t at)
{
	return o->size - at < o->unit ? o->size - at : o->unit;
}

static char *chunk_map(struct task *t, size_t at)
{
	const struct usemem_opts *o = &t->u->opts;
	char *p;

	if (t->u->prealloc)
		return t->u->prealloc + at;
	p = usemem_map(t->u, chunk_bytes(o, at), o->offset + at);
	if (t->n % 64 == 0) {
		t->chunks = realloc(t->chunks, (t->n + 64) * sizeof(*t->chunks));
		must(t->chunks, "list of chunks");
	}
	t->chunks[t->n++] = p;
	return p;
}

/* One write(2), so that the lines of the tasks do not mix. */
static void print_line(const char *text, size_t n)
{
	must(write(STDOUT_FILENO, text, n) == (ssize_t)n, "output");
}

static int format_rate(char *buf, size_t cap, uint64_t bytes, uint64_t usecs)
{
	unsigned __int128 kib = (unsigned __int128)bytes * 1000000 >> 10;

	if (usecs == 0)
		usecs = 1;
	return snprintf(buf, cap, "%llu bytes / %llu usecs = %llu KB/s\n",
			(unsigned long long)bytes, (unsigned long long)usecs,
			(unsigned long long)(kib / usecs));
}

static void print_statistics(const struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	uint64_t usecs = usemem_usecs(&t->u->start);
	size_t dots = o->quiet || o->repeat < 2 ? 0 : o->repeat - 1;
	char line[4096];
	int n;

	if (dots > sizeof(line) / 2)
		dots = sizeof(line) / 2;
	memset(line, '.', dots);
	n = format_rate(line + dots, sizeof(line) - dots, t->bytes, usecs);
	print_line(line, dots + (size_t)n);
}

static void read_again(struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	size_t step = o->step / sizeof(uint64_t), k = 0;
	struct timespec since;
	uint64_t bytes = 0;
	char line[128] = "read again ";
	int n;

	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	for (size_t at = 0; at < o->size && (t->u->prealloc || k < t->n); at += o->unit, k++) {
		volatile uint64_t *p =
			(volatile uint64_t *)(void *)(t->u->prealloc ? t->u->prealloc + at
								     : t->chunks[k]);
		size_t words = chunk_bytes(o, at) / sizeof(*p);

		for (size_t i = 0; i < words; i += step) {
			(void)p[o->random ? random_word(t, words) : i];
			bytes += sizeof(*p);
		}
	}
	n = format_rate(line + strlen(line), sizeof(line) - strlen(line), bytes,
			usemem_usecs(&since));
	print_line(line, strlen("read again ") + (size_t)n);
}

/* The half that writes the pid goes away, the other one holds the memory and goes on. */
static void detach(const struct usemem_opts *o)
{
	pid_t pid = fork();
	char text[24];
	int fd, n;

	must(pid >= 0, "fork");
	if (pid == 0)
		return;
	if (o->pid_file) {
		fd = open(o->pid_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (fd < 0)
			die("%s: %m", o->pid_file);
		n = snprintf(text, sizeof(text), "%d\n", (int)pid);
		must(write(fd, text, (size_t)n) == n, "pid file");
	}
	_exit(0);
}

static void lock_chunks(const struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;

	if (t->u->prealloc)
		must(mlock(t->u->prealloc, o->size) == 0, "mlock");
	for (size_t k = 0; k < t->n; k++)
		must(mlock(t->chunks[k], chunk_bytes(o, k * o->unit)) == 0, "mlock");
}

static void linger(long seconds)
{
	struct timespec left = { .tv_sec = seconds };

	if (seconds < 0)
		for (;;)
			(void)pause();
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* With very many chunks the freeing is left to the end of the process, and there is no line. */
static void free_chunks(const struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	struct timespec since;
	char line[64];
	int n;

	if (t->u->prealloc || t->n > USEMEM_CHUNKS_FREED)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	for (size_t k = 0; k < t->n; k++) {
		if (o->use_malloc)
			free(t->chunks[k]);
		else
			must(munmap(t->chunks[k], chunk_bytes(o, k * o->unit)) == 0, "munmap");
	}
	n = snprintf(line, sizeof(line), "%llu usecs to free memory\n",
		     (unsigned long long)usemem_usecs(&since));
	print_line(line, (size_t)n);
}

static void bind_task(const struct usemem *u, unsigned long nr)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct cpu_mask mask = { 0 };

	if (u->opts.bind == 0 || cpus <= 0)
		return;
	cpu_mask_set(&mask, (int)(nr * u->opts.bind % (unsigned long)cpus));
	cpu_mask_apply(&mask);
}

static void task_init(struct task *t, const struct usemem *u)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	*t = (struct task){ .u = u, .page = (size_t)sysconf(_SC_PAGESIZE) };
	t->random = u->opts.has_seed ? u->opts.seed
				     : (uint64_t)now.tv_sec ^ (uint64_t)syscall(SYS_gettid);
	/* Spread the bits of small seeds; the generator must not start from 0. */
	t->random = (t->random + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	/* The credit for the allocation, in full also when the time limit cuts the work. */
	t->bytes = u->opts.size / sizeof(uint64_t);
	if (u->opts.remap)
		t->bytes += u->opts.size / sizeof(uint64_t);
}

void usemem_task(const struct usemem *u, unsigned long nr)
{
	const struct usemem_opts *o = &u->opts;
	struct task t;

	bind_task(u, nr);
	task_init(&t, u);
	if (!o->sync_rw)
		usemem_gate_wait(u, GATE_START);
	for (size_t at = 0; at < o->size && !t.late; at += o->unit) {
		char *p = chunk_map(&t, at);

		if (o->sync_rw)
			usemem_gate_wait(u, GATE_START);
		work_on(&t, p, chunk_bytes(o, at));
	}
	if (o->size > 0)
		print_statistics(&t);
	if (o->read_again)
		read_again(&t);
	if (o->detach)
		detach(o);
	if (o->mlock)
		lock_chunks(&t);
	linger(o->sleep_s);
	if (o->sync_free)
		usemem_gate_wait(u, GATE_FREE);
	free_chunks(&t);
	free(t.chunks);
}
