/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls without the library, for loops in which its wrapper would be a percent of what is
 * measured: a call, a check for cancellation, and one more place to fetch code from.
 */
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/** raw_call() - system call @nr. Return: its result, or -errno. */
static inline __attribute__((always_inline)) long raw_call(long nr, long a, long b, long c)
{
#ifdef __x86_64__
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
#else
	long ret = syscall(nr, a, b, c);

	return ret < 0 ? -errno : ret;
#endif
}
