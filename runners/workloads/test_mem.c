/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of address spaces and page faults. */
#include "runners/workloads/files.h"
#include "runners/workloads/tests.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define AREA_BYTES  (128UL * 1024 * 1024)
#define SMALL_BYTES (1024UL * 1024)

/* The compiler knows malloc() and would leave out a block that nobody looks at. */
#define keep(p) __asm__ volatile("" : : "r"(p) : "memory")

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void brk_loop(volatile uint64_t *count, char *start)
{
	char *up = start + page_bytes();

	for (;;) {
		must(brk(up) == 0, "brk up");
		*count += 1;
		must(brk(start) == 0, "brk down");
		*count += 1;
	}
}

WIS_RUN(brk1)
{
	(void)nr;
	brk_loop(count, sbrk(0));
}

WIS_RUN(brk2)
{
	(void)nr;
	must(sbrk((intptr_t)page_bytes()) != (void *)-1, "sbrk");
	brk_loop(count, sbrk(0));
}

static void malloc_loop(volatile uint64_t *count, size_t bytes)
{
	for (;;) {
		void *p = malloc(bytes);

		must(p, "malloc");
		keep(p);
		free(p);
		*count += 1;
	}
}

WIS_RUN(malloc1)
{
	(void)nr;
	malloc_loop(count, AREA_BYTES);
}

WIS_RUN(malloc2)
{
	(void)nr;
	malloc_loop(count, 1024);
}

static char *map_area(size_t bytes, int flags, int fd)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	must(p != MAP_FAILED, "mmap");
	return p;
}

static void mmap_loop(volatile uint64_t *count, int flags, int fd)
{
	for (;;) {
		char *p = map_area(AREA_BYTES, flags, fd);

		must(munmap(p, AREA_BYTES) == 0, "munmap");
		*count += 1;
	}
}

WIS_RUN(mmap1)
{
	(void)nr;
	mmap_loop(count, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

WIS_RUN(mmap2)
{
	(void)nr;
	mmap_loop(count, MAP_PRIVATE, file_own(FILES_TMP, AREA_BYTES));
}

static void fault_loop(volatile uint64_t *count, int flags, int fd)
{
	size_t page = page_bytes();

	for (;;) {
		char *p = map_area(AREA_BYTES, flags, fd);

		for (size_t at = 0; at < AREA_BYTES; at += page) {
			*(volatile char *)(p + at) = 0;
			*count += 1;
		}
		must(munmap(p, AREA_BYTES) == 0, "munmap");
	}
}

WIS_RUN(page_fault1)
{
	(void)nr;
	fault_loop(count, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

WIS_RUN(page_fault2)
{
	(void)nr;
	fault_loop(count, MAP_PRIVATE, file_own(FILES_TMP, AREA_BYTES));
}

WIS_RUN(page_fault3)
{
	(void)nr;
	fault_loop(count, MAP_SHARED, file_own(FILES_TMP, AREA_BYTES));
}

/* @left: what is to be read from a page that was set to 1 and dropped. */
static void flush_loop(volatile uint64_t *count, size_t bytes, int flags, int fd, char left)
{
	size_t page = page_bytes();

	for (;;) {
		char *p = map_area(bytes, flags, fd);

		for (size_t at = 0; at < bytes; at += page) {
			*(volatile char *)(p + at) = 1;
			must(madvise(p + at, page, MADV_DONTNEED) == 0, "madvise");
			if (*(volatile char *)(p + at) != left)
				die("a dropped page does not hold %d", left);
			*count += 1;
		}
		must(munmap(p, bytes) == 0, "munmap");
	}
}

WIS_RUN(tlb_flush1)
{
	(void)nr;
	flush_loop(count, AREA_BYTES, MAP_PRIVATE, file_own(FILES_TMP, AREA_BYTES), 0);
}

WIS_RUN(tlb_flush2)
{
	(void)nr;
	flush_loop(count, SMALL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

WIS_RUN(tlb_flush3)
{
	(void)nr;
	flush_loop(count, AREA_BYTES, MAP_SHARED, file_own(FILES_TMP, AREA_BYTES), 1);
}
