/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of the page cache: reading, truncating and remapping files. */
#include "runners/workloads/applets.h"
#include "runners/workloads/harness.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_BLOCK  ((size_t)4096)
#define FILL_BLOCK  ((size_t)131072)
#define CLOCK_READS 256
#define READERS_MAX 1024
#define FILES_MAX   1048576

static int open_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %m", path);
	return fd;
}

/* "168 MB": whole numbers from 10 on, as dd has them. */
static void human(char *buf, size_t cap, double v, double factor, const char *const *units,
		  double tenths_below)
{
	size_t i = 0;

	while (v >= factor && units[i + 1]) {
		v /= factor;
		i++;
	}
	(void)snprintf(buf, cap, "%.*f %s", i > 0 && v < tenths_below ? 1 : 0, v, units[i]);
}

static void print_dd(uint64_t bytes, uint64_t usecs)
{
	static const char *const si[] = { "B", "kB", "MB", "GB", "TB", NULL };
	static const char *const iec[] = { "B", "KiB", "MiB", "GiB", "TiB", NULL };
	double seconds = (double)usecs / 1e6;
	char a[32], b[32], rate[32];

	human(a, sizeof(a), (double)bytes, 1000, si, 9.95);
	human(b, sizeof(b), (double)bytes, 1024, iec, 9.95);
	human(rate, sizeof(rate), (double)bytes / seconds, 1000, si, 99.95);
	print_text("%llu+%d records in\n%llu+%d records out\n"
		   "%llu bytes (%s, %s) copied, %g s, %s/s\n",
		   (unsigned long long)(bytes / READ_BLOCK), bytes % READ_BLOCK != 0,
		   (unsigned long long)(bytes / READ_BLOCK), bytes % READ_BLOCK != 0,
		   (unsigned long long)bytes, a, b, seconds, rate);
}

static void read_blocks(int fd, uint64_t runtime_s)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char buf[READ_BLOCK];
	struct timespec start;
	uint64_t bytes = 0;
	ssize_t n = 1;

	must(null >= 0, "/dev/null");
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	for (unsigned reads = 0; n > 0; reads++) {
		n = read(fd, buf, sizeof(buf));
		must(n >= 0, "read");
		must(write(null, buf, (size_t)n) == n, "write");
		bytes += (uint64_t)n;
		if (runtime_s > 0 && reads % CLOCK_READS == 0 &&
		    usecs_since(&start) >= runtime_s * 1000000)
			break;
	}
	print_dd(bytes, usecs_since(&start));
}

int applet_read_file(int argc, char **argv)
{
	const char *runtime = option_value(&argc, &argv, "--runtime");
	const char *readers = option_value(&argc, &argv, "--readers");
	uint64_t runtime_s = 0, n = 1;

	if (argc != 2 || (runtime && !count_parse(runtime, INT_MAX, &runtime_s)) ||
	    (readers && (!count_parse(readers, READERS_MAX, &n) || n == 0)))
		return APPLET_USAGE;
	for (uint64_t i = 0; i < n; i++) {
		if (child_start() > 0)
			continue;
		read_blocks(open_read(argv[1]), runtime_s);
		_exit(0);
	}
	return children_wait(n);
}

/* One name: those of several runs in one folder must not meet. */
static void truncate_name(char *buf, size_t cap, uint64_t i)
{
	(void)snprintf(buf, cap, "truncate.%ld.%llu", (long)getpid(), (unsigned long long)i);
}

static void make_sparse(const char *path, size_t bytes)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		die("%s: %m", path);
	(void)close(fd);
}

static void read_all(const char *path)
{
	static char buf[FILL_BLOCK];
	int fd = open_read(path);
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		;
	must(n == 0, path);
	(void)close(fd);
}

/* Give each file to a child of its own, and let them begin together; *@ret_start is when. */
static int in_parallel(uint64_t n, void (*fn)(const char *path), struct timespec *ret_start)
{
	char path[64];
	int go[2];

	must(pipe2(go, O_CLOEXEC) == 0, "pipe");
	for (uint64_t i = 0; i < n; i++) {
		struct pollfd p = { .fd = go[0], .events = POLLIN };

		truncate_name(path, sizeof(path), i);
		if (child_start() > 0)
			continue;
		while (poll(&p, 1, -1) < 0 && errno == EINTR)
			;
		fn(path);
		_exit(0);
	}
	(void)clock_gettime(CLOCK_REALTIME, ret_start);
	must(write(go[1], "", 1) == 1, "start of the children");
	(void)close(go[0]);
	(void)close(go[1]);
	return children_wait(n);
}

static void remove_one(const char *path)
{
	if (unlink(path) < 0)
		die("%s: %m", path);
}

static void print_timed(uint64_t bytes, const char *what, const struct timespec *start,
			const struct timespec *end)
{
	print_text("%llu bytes %s in %lld.%09ld-%lld.%09ld seconds\n", (unsigned long long)bytes,
		   what, (long long)end->tv_sec, end->tv_nsec, (long long)start->tv_sec,
		   start->tv_nsec);
}

int applet_truncate_files(int argc, char **argv)
{
	bool seq = option_take(&argc, &argv, "--seq");
	struct timespec start, end;
	size_t bytes;
	char path[64];
	uint64_t n;

	if (argc != 3 || !count_parse(argv[1], FILES_MAX, &n) || n == 0 ||
	    !bytes_parse(argv[2], &bytes) || bytes > SIZE_MAX / FILES_MAX)
		return APPLET_USAGE;
	for (uint64_t i = 0; i < n; i++) {
		truncate_name(path, sizeof(path), i);
		make_sparse(path, bytes);
	}
	if (in_parallel(n, read_all, &start) != 0)
		return 1;
	(void)clock_gettime(CLOCK_REALTIME, &end);
	if (seq)
		print_timed(n * bytes, "faulted", &start, &end);
	if (seq) {
		(void)clock_gettime(CLOCK_REALTIME, &start);
		for (uint64_t i = 0; i < n; i++) {
			truncate_name(path, sizeof(path), i);
			remove_one(path);
		}
	} else if (in_parallel(n, remove_one, &start) != 0) {
		return 1;
	}
	(void)clock_gettime(CLOCK_REALTIME, &end);
	print_timed(n * bytes, "truncated", &start, &end);
	return 0;
}

int applet_remap_file(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes, pages;
	struct timespec start;
	uint64_t usecs;
	char *p;
	int fd;

	if (argc != 3 || !bytes_parse(argv[2], &bytes) || bytes < page)
		return APPLET_USAGE;
	pages = bytes / page;
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s: %m", argv[1]);
	p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(p != MAP_FAILED, "mmap");
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	for (size_t i = 0; i < pages; i++)
		must(remap_file_pages(p + i * page, page, 0, pages - 1 - i, 0) == 0,
		     "remap_file_pages");
	usecs = usecs_since(&start);
	print_text("%zu bytes remapped, %llu usecs, %llu MB/s\n", pages * page,
		   (unsigned long long)usecs, (unsigned long long)(pages * page / usecs));
	return 0;
}
