/* SPDX-License-Identifier: GPL-3.0-or-later */
/* usemem: what one task does. */
#include "runners/workloads/harness.h"
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
/* The same at random places, where each access can be a read from a disk. */
#define CLOCK_RANDOM 1024

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
	int flags = o->file || o->memfd ? MAP_SHARED : MAP_PRIVATE;
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
size_t usemem_random_word(struct task *t, size_t n)
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

/*
 * The plain passes, apart from all others: what they do beside the accesses would be a part of what
 * is measured. Return: the index after the last access.
 */
static size_t access_run(volatile uint64_t *p, size_t i, size_t end, size_t step, bool readonly)
{
	if (readonly)
		for (; i < end; i += step)
			(void)p[i];
	else
		for (; i < end; i += step)
			p[i] = i;
	return i;
}

static void access_slow(struct task *t, volatile uint64_t *p, size_t at, bool check,
			size_t *last_page)
{
	access_word(t, p, at, check);
	if (t->u->opts.delay_ns > 0 && at * sizeof(*p) / t->page != *last_page) {
		*last_page = at * sizeof(*p) / t->page;
		stay(t, p, at);
	}
}

/* One pass over @bytes at @base. @check: an earlier pass has stored the indexes. */
static void pass(struct task *t, char *base, size_t bytes, bool check)
{
	const struct usemem_opts *o = &t->u->opts;
	volatile uint64_t *p = (volatile uint64_t *)(void *)base;
	size_t words = bytes / sizeof(*p), step = o->step / sizeof(*p), last_page = SIZE_MAX;
	size_t look = !o->random ? CLOCK_WORDS : step < CLOCK_WORDS ? CLOCK_RANDOM * step : step;
	bool plain = !o->random && !check && o->delay_ns == 0;

	for (size_t i = 0; i < words;) {
		size_t from = i, end = words - i < look ? words : i + look;

		if (plain)
			i = access_run(p, i, end, step, o->readonly);
		for (; i < end; i += step)
			access_slow(t, p, o->random ? usemem_random_word(t, words) : i, check,
				    &last_page);
		t->bytes += (i - from) / step * sizeof(*p);
		if (i < words && time_is_up(t->u)) {
			t->late = true;
			return;
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
		struct timespec since = { 0 };
		uint64_t before = t->bytes;

		if (o->first_speed && r == 0)
			(void)clock_gettime(CLOCK_MONOTONIC, &since);
		pass(t, p, bytes, r > 0 && !o->random);
		if (o->first_speed && r == 0) {
			t->first_usecs += usemem_usecs(&since);
			t->first_bytes += t->bytes - before;
		}
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
	usemem_mapped(t->u, p, chunk_bytes(o, at));
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

void usemem_print_rate(const char *prefix, uint64_t bytes, uint64_t usecs)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%s", prefix);

	n += format_rate(line + n, sizeof(line) - (size_t)n, bytes, usecs);
	print_line(line, (size_t)n);
}

char *usemem_chunk(const struct task *t, size_t k, size_t *ret_bytes)
{
	const struct usemem_opts *o = &t->u->opts;

	if (o->size == 0 || k > (o->size - 1) / o->unit || (!t->u->prealloc && k >= t->n))
		return NULL;
	*ret_bytes = chunk_bytes(o, k * o->unit);
	return t->u->prealloc ? t->u->prealloc + k * o->unit : t->chunks[k];
}

static void read_again(struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;
	size_t step = o->step / sizeof(uint64_t), size;
	struct timespec since;
	uint64_t bytes = 0;
	char *p;

	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	for (size_t k = 0; (p = usemem_chunk(t, k, &size)); k++) {
		volatile uint64_t *w = (volatile uint64_t *)(void *)p;
		size_t words = size / sizeof(*w);

		for (size_t i = 0; i < words; i += step) {
			(void)w[o->random ? usemem_random_word(t, words) : i];
			bytes += sizeof(*w);
		}
	}
	usemem_print_rate("read again ", bytes, usemem_usecs(&since));
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
	if (u->opts.shm_lock)
		t->bytes += u->opts.size / sizeof(uint64_t);
}

static void all_passes(struct task *t)
{
	const struct usemem_opts *o = &t->u->opts;

	if (o->shm_lock && o->size > 0)
		usemem_shm_lock(t->u);
	for (size_t at = 0; at < o->size && !t->late; at += o->unit) {
		char *p = chunk_map(t, at);

		if (o->sync_rw)
			usemem_gate_wait(t->u, GATE_START);
		work_on(t, p, chunk_bytes(o, at));
	}
	if (o->first_speed && o->size > 0)
		usemem_print_rate("first access ", t->first_bytes, t->first_usecs);
	if (o->size > 0 && !o->wait_signal)
		print_statistics(t);
}

void usemem_task(const struct usemem *u, unsigned long nr)
{
	const struct usemem_opts *o = &u->opts;
	struct task t;

	usemem_place(u, nr);
	task_init(&t, u);
	if (!o->sync_rw)
		usemem_gate_wait(u, GATE_START);
	if (usemem_without_pass(u))
		return;
	all_passes(&t);
	if (o->madv_pageout)
		usemem_page_out(&t);
	if (o->read_again)
		read_again(&t);
	if (o->detach)
		detach(o);
	if (o->mlock)
		lock_chunks(&t);
	if (o->punch_holes)
		usemem_punch_holes(&t);
	if (o->wait_signal)
		usemem_on_signal(&t);
	linger(o->sleep_s);
	if (o->interactive)
		usemem_wait_for_key();
	if (o->sync_free)
		usemem_gate_wait(u, GATE_FREE);
	free_chunks(&t);
	free(t.chunks);
}
