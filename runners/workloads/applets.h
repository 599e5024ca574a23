/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The small programs beside the workloads: set-up and clean-up of a run, and what the cases of
 * vm-scalability do apart from usemem. Each is called by its name, as the workloads are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/**
 * struct applet - one of them.
 * @usage: its arguments. @about: one sentence.
 * @run: gets argv[0] too; returns the exit status, APPLET_USAGE where the arguments are wrong.
 */
struct applet {
	const char *name, *usage, *about;
	int (*run)(int argc, char **argv);
};

#define APPLET_USAGE (-1)

/** applets - all of applets.def; ends with a NULL name. */
extern const struct applet applets[];

/** workload_main() - run the workload or applet argv[0]. Return: false if there is none so called. */
bool workload_main(int argc, char **argv, int *ret);

/** child_start() - fork; in the child, which ends with its parent, 0 is returned. Dies on failure. */
pid_t child_start(void);

/** children_wait() - wait for @n children. Return: 0 if all ended with 0, else 1. */
int children_wait(size_t n);

/** print_text() - one write(2) to stdout, so that lines of many processes do not mix. */
void print_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** usecs_since() - microseconds of the monotonic clock since @since, at least 1. */
uint64_t usecs_since(const struct timespec *since);

/** option_take() - is argv[1] @name? Then it is taken away. */
bool option_take(int *argc, char ***argv, const char *name);

/** option_value() - is argv[1] @name with a value behind? Then both are taken away. */
const char *option_value(int *argc, char ***argv, const char *name);

#define APPLET(name, run, usage, about) int run(int argc, char **argv);
#include "runners/workloads/applets.def"
#undef APPLET
