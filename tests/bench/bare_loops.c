/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bare_loops NAME FD - the system calls of a test in an endless loop, and nothing else: what the
 * bundled tests are held against. Passes are counted in a register; now and then their sum is put
 * where the 8 bytes of file FD are mapped. Static, and built like the bundled tests.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AREA_BYTES (128UL * 1024 * 1024)
#define PUBLISH	   64

/* The system call alone, where we know how. */
static inline long call(long nr, long a, long b, long c)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(nr, a, b, c);
#endif
}

static void bare_getppid(volatile uint64_t *count)
{
	for (;;) {
		for (int i = 0; i < PUBLISH; i++)
			(void)call(SYS_getppid, 0, 0, 0);
		*count += PUBLISH;
	}
}

static void bare_brk(volatile uint64_t *count)
{
	char *start, *up;
	/* Whatever uses malloc has a heap already: it is resized, not made and taken away. */
	void *volatile heap = malloc(1);

	free(heap);
	start = sbrk(0);
	up = start + sysconf(_SC_PAGESIZE);
	for (;;) {
		for (int i = 0; i < PUBLISH / 2; i++)
			if (call(SYS_brk, (long)up, 0, 0) != (long)up ||
			    call(SYS_brk, (long)start, 0, 0) != (long)start)
				exit(1);
		*count += PUBLISH;
	}
}

static void bare_page_fault(volatile uint64_t *count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (;;) {
		char *p = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(1);
		for (size_t at = 0; at < AREA_BYTES;) {
			for (size_t end = at + PUBLISH * page; at < end; at += page)
				*(volatile char *)(p + at) = 0;
			*count += PUBLISH;
		}
		if (munmap(p, AREA_BYTES) != 0)
			exit(1);
	}
}

static void bare_context_switch(volatile uint64_t *count)
{
	int to[2], back[2];
	char c = 0;

	if (pipe(to) != 0 || pipe(back) != 0)
		exit(1);
	if (fork() == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (call(SYS_read, to[0], (long)&c, 1) == 1 &&
		       call(SYS_write, back[1], (long)&c, 1) == 1)
			;
		exit(1);
	}
	for (;;) {
		for (int i = 0; i < PUBLISH / 2; i++)
			if (call(SYS_write, to[1], (long)&c, 1) != 1 ||
			    call(SYS_read, back[0], (long)&c, 1) != 1)
				exit(1);
		*count += PUBLISH;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(volatile uint64_t *count);
	} loops[] = { { "getppid1", bare_getppid },
		      { "brk1", bare_brk },
		      { "page_fault1", bare_page_fault },
		      { "context_switch1", bare_context_switch } };
	volatile uint64_t *count;

	if (argc != 3)
		return 1;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0);
	if (count == MAP_FAILED)
		return 1;
	/* A process that was forked and did not execute a program, as the bundled tasks are. */
	if (fork() > 0)
		for (;;)
			(void)pause();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (!strcmp(argv[1], loops[i].name))
			loops[i].run(count);
	return 1;
}
