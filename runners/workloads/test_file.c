/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of files and descriptors. */
#include "runners/workloads/files.h"
#include "runners/workloads/tests.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK	   4096L
#define FILE_BYTES (1024 * 1024L)
#define POLL_FILES 128
/* Descriptors that poll2 wants a CPU. */
#define POLL_LIMIT 138

/* The file that all tasks share; each opens it by itself. */
static int shared_fd = -1;

static off_t page_at(unsigned nr)
{
	return (off_t)nr * sysconf(_SC_PAGESIZE);
}

static int own_4k(void)
{
	return file_own_filled(BLOCK);
}

static int shared(void)
{
	return file_reopen(shared_fd, O_RDWR);
}

void setup_shared_4k(unsigned tasks)
{
	(void)tasks;
	shared_fd = own_4k();
}

void setup_shared_1m(unsigned tasks)
{
	(void)tasks;
	shared_fd = file_own_filled(FILE_BYTES);
}

void setup_shared_pages(unsigned tasks)
{
	shared_fd = file_own_filled(page_at(tasks));
}

WIS_RUN(dup1)
{
	int fd = own_4k();

	(void)nr;
	for (;;) {
		int copy = dup(fd);

		must(copy >= 0, "dup");
		(void)close(copy);
		*count += 1;
	}
}

static void fallocate_loop(volatile uint64_t *count, int fd)
{
	for (;;) {
		for (off_t at = 0; at < FILE_BYTES; at += 2 * BLOCK) {
			must(fallocate(fd, 0, at, 2 * BLOCK) == 0, "fallocate");
			*count += 1;
		}
		must(ftruncate(fd, 0) == 0, "ftruncate");
	}
}

WIS_RUN(fallocate1)
{
	(void)nr;
	fallocate_loop(count, file_own(FILES_SHM, 0));
}

WIS_RUN(fallocate2)
{
	(void)nr;
	fallocate_loop(count, file_own(FILES_TMP, 0));
}

static void lock_loop(volatile uint64_t *count, int fd)
{
	struct flock lock = { .l_whence = SEEK_SET, .l_len = 1 };

	for (;;) {
		lock.l_type = F_WRLCK;
		must(fcntl(fd, F_SETLKW, &lock) == 0, "lock");
		*count += 1;
		lock.l_type = F_UNLCK;
		must(fcntl(fd, F_SETLKW, &lock) == 0, "unlock");
		*count += 1;
	}
}

WIS_RUN(lock1)
{
	(void)nr;
	lock_loop(count, own_4k());
}

WIS_RUN(lock2)
{
	(void)nr;
	lock_loop(count, shared());
}

static void lseek_loop(volatile uint64_t *count, int fd)
{
	for (;;) {
		must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
		*count += 1;
	}
}

WIS_RUN(lseek1)
{
	(void)nr;
	lseek_loop(count, own_4k());
}

WIS_RUN(lseek2)
{
	(void)nr;
	lseek_loop(count, shared());
}

void setup_names(unsigned tasks)
{
	files_named_init(tasks, 0);
}

void setup_names_folders(unsigned tasks)
{
	files_named_init(tasks, 1);
}

static void make_all(unsigned tasks)
{
	for (unsigned i = 0; i < tasks; i++)
		file_named_make(i);
}

void setup_named(unsigned tasks)
{
	setup_names(tasks);
	make_all(tasks);
}

void setup_named_folders(unsigned tasks)
{
	setup_names_folders(tasks);
	make_all(tasks);
}

static void open_loop(volatile uint64_t *count, const char *path)
{
	for (;;) {
		int fd = open(path, O_RDWR);

		must(fd >= 0, "open");
		(void)close(fd);
		*count += 1;
	}
}

WIS_RUN(open1)
{
	char path[PATH_MAX];

	open_loop(count, file_named(nr, path));
}

WIS_RUN(open3)
{
	char path[PATH_MAX];

	(void)nr;
	open_loop(count, file_named(0, path));
}

WIS_RUN(unlink1)
{
	char buf[PATH_MAX];
	const char *path = file_named(nr, buf);

	for (;;) {
		int fd = open(path, O_CREAT | O_RDWR, 0600);

		must(fd >= 0, "open");
		(void)close(fd);
		must(unlink(path) == 0, "unlink");
		*count += 1;
	}
}

static void poll_loop(volatile uint64_t *count, struct pollfd *p, const int *fds, nfds_t n)
{
	for (;;) {
		memset(p, 0, n * sizeof(*p));
		for (nfds_t i = 0; i < n; i++) {
			p[i].fd = fds[i];
			p[i].events = POLLOUT;
		}
		must(poll(p, n, 0) == (int)n, "poll");
		*count += 1;
	}
}

WIS_RUN(poll1)
{
	struct pollfd p;
	int fd = own_4k();

	(void)nr;
	poll_loop(count, &p, &fd, 1);
}

void setup_poll2(unsigned tasks)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit lim;
	rlim_t want;

	want = (rlim_t)POLL_LIMIT * (rlim_t)(cpus > 0 ? cpus : 1);
	/* Threads share one table, and there can be more of them than CPUs. */
	if (wis_threads() && want < (rlim_t)POLL_LIMIT * tasks)
		want = (rlim_t)POLL_LIMIT * tasks;
	must(getrlimit(RLIMIT_NOFILE, &lim) == 0, "getrlimit");
	if (lim.rlim_cur >= want)
		return;
	lim.rlim_cur = want;
	if (lim.rlim_max < want)
		lim.rlim_max = want;
	must(setrlimit(RLIMIT_NOFILE, &lim) == 0, "limit of open files");
}

WIS_RUN(poll2)
{
	struct pollfd p[POLL_FILES];
	int fds[POLL_FILES];

	(void)nr;
	for (int i = 0; i < POLL_FILES; i++)
		fds[i] = file_own(FILES_TMP, 0);
	poll_loop(count, p, fds, POLL_FILES);
}

static void pread_loop(volatile uint64_t *count, int fd, off_t at)
{
	char buf[BLOCK];

	for (;;) {
		must(pread(fd, buf, BLOCK, at) == BLOCK, "pread");
		*count += 1;
	}
}

WIS_RUN(pread1)
{
	(void)nr;
	pread_loop(count, own_4k(), 0);
}

WIS_RUN(pread2)
{
	(void)nr;
	pread_loop(count, shared(), 0);
}

WIS_RUN(pread3)
{
	pread_loop(count, shared(), page_at(nr));
}

static void pwrite_loop(volatile uint64_t *count, int fd, off_t at)
{
	char buf[BLOCK] = { 0 };

	for (;;) {
		must(pwrite(fd, buf, BLOCK, at) == BLOCK, "pwrite");
		*count += 1;
	}
}

WIS_RUN(pwrite1)
{
	(void)nr;
	pwrite_loop(count, own_4k(), 0);
}

WIS_RUN(pwrite2)
{
	(void)nr;
	pwrite_loop(count, shared(), 0);
}

WIS_RUN(pwrite3)
{
	pwrite_loop(count, shared(), page_at(nr));
}

/* The read at the end of the file gives 0 bytes; it is counted like the others. */
static void read_loop(volatile uint64_t *count, int fd, size_t block)
{
	char *buf = aligned_alloc(block, block);

	must(buf, "buffer");
	for (;;) {
		ssize_t n = read(fd, buf, block);

		must(n >= 0, "read");
		if (n == 0)
			must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
		*count += 1;
	}
}

WIS_RUN(read1)
{
	(void)nr;
	read_loop(count, file_own_filled(FILE_BYTES), BLOCK);
}

WIS_RUN(read2)
{
	(void)nr;
	read_loop(count, shared(), BLOCK);
}

WIS_RUN(read3)
{
	(void)nr;
	read_loop(count, file_reopen(file_own_filled(FILE_BYTES), O_RDWR | O_DIRECT),
		  (size_t)page_at(1));
}

WIS_RUN(read4)
{
	(void)nr;
	read_loop(count, file_reopen(shared_fd, O_RDWR | O_DIRECT), (size_t)page_at(1));
}

static void readseek_loop(volatile uint64_t *count, int fd, off_t at)
{
	char buf[BLOCK];

	for (;;) {
		must(lseek(fd, at, SEEK_SET) == at, "lseek");
		must(read(fd, buf, BLOCK) == BLOCK, "read");
		*count += 1;
	}
}

WIS_RUN(readseek1)
{
	(void)nr;
	readseek_loop(count, own_4k(), 0);
}

WIS_RUN(readseek2)
{
	(void)nr;
	readseek_loop(count, shared(), 0);
}

WIS_RUN(readseek3)
{
	readseek_loop(count, shared(), page_at(nr));
}

WIS_RUN(write1)
{
	char buf[BLOCK] = { 0 };
	int fd = file_own(FILES_TMP, 0);

	(void)nr;
	for (;;) {
		for (off_t at = 0; at < FILE_BYTES; at += BLOCK) {
			must(write(fd, buf, BLOCK) == BLOCK, "write");
			*count += 1;
		}
		must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	}
}

static void writeseek_loop(volatile uint64_t *count, int fd, off_t at)
{
	char buf[BLOCK] = { 0 };

	for (;;) {
		must(lseek(fd, at, SEEK_SET) == at, "lseek");
		must(write(fd, buf, BLOCK) == BLOCK, "write");
		*count += 1;
	}
}

WIS_RUN(writeseek1)
{
	(void)nr;
	writeseek_loop(count, own_4k(), 0);
}

WIS_RUN(writeseek2)
{
	(void)nr;
	writeseek_loop(count, shared(), 0);
}

WIS_RUN(writeseek3)
{
	writeseek_loop(count, shared(), page_at(nr));
}
