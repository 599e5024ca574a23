/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of the will-it-scale tests: tasks that count what they do in shared memory, and a parent
 * that reads the counters once a second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WIS_TASKS_MAX 2048

/**
 * struct wis_test - a test case.
 * @setup: called once before the tasks exist, with their number; may be NULL.
 * @run: the endless loop of task @nr (counted from 0); adds to *@count.
 * @cleanup: called once at the end, also after a signal; may be NULL.
 */
struct wis_test {
	const char *name;
	const char *title;
	void (*setup)(unsigned tasks);
	void (*run)(volatile uint64_t *count, unsigned nr);
	void (*cleanup)(void);
};

/** wis_tests - all of tests.def; ends with a NULL name. */
extern const struct wis_test wis_tests[];

/**
 * wis_main() - run @t as the command line says. @threads: tasks are threads, not processes.
 * Return: exit status: 0 all samples taken, 1 wrong usage or a task that failed.
 */
int wis_main(const struct wis_test *t, bool threads, int argc, char **argv);

/**
 * wis_helper() - start @fn(@arg) beside the calling task: a thread where tasks are threads, else a
 * process. It inherits the CPUs of its creator and ends with it.
 */
void wis_helper(void (*fn)(void *arg), void *arg);

/** wis_threads() - are the tasks of this run threads of one process? */
bool wis_threads(void);

/** die() - say on stderr what could not be done and end the process with status 1; %m is errno. */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** must() - die() with errno's text if @ok is false. */
#define must(ok, what)                          \
	do {                                    \
		if (__builtin_expect(!(ok), 0)) \
			die_errno(what);        \
	} while (0)
void die_errno(const char *what) __attribute__((noreturn, cold));

/** die_code() - the same for a call that returns its error. */
void die_code(int code, const char *what) __attribute__((noreturn, cold));

/** bundled_name() - name that this program was called by, for messages. */
extern const char *bundled_name;
