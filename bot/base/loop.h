/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event loop of a process: sd-event with our errors. One per process, one thread. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct loop;

/** loop_new() - make the loop; SIGTERM and SIGINT end it, the systemd watchdog is fed from it. */
int loop_new(struct loop **ret, struct err *e);
void loop_free(struct loop *l);

/** loop_run() - until loop_exit(). Return: the code given there, or ERR_IO. */
int loop_run(struct loop *l, struct err *e);
void loop_exit(struct loop *l, int code);

/** loop_on_stop() - call @fn on SIGTERM or SIGINT instead of ending at once. */
void loop_on_stop(struct loop *l, void (*fn)(void *arg), void *arg);

/** loop_every() - call @fn every @seconds (jitter of a tenth), first after @seconds. */
int loop_every(struct loop *l, double seconds, void (*fn)(void *arg), void *arg, struct err *e);

/** loop_after() - call @fn once after @seconds. */
int loop_after(struct loop *l, double seconds, void (*fn)(void *arg), void *arg, struct err *e);

/**
 * loop_child() - call @fn when child @pid has ended; the loop reaps it.
 * @fn: gets the wait status as of waitpid().
 */
int loop_child(struct loop *l, pid_t pid, void (*fn)(void *arg, pid_t pid, int status), void *arg,
	       struct err *e);

/**
 * loop_io() - call @fn whenever @fd is readable, until loop_io_off(@fd).
 * loop_io_off(): nothing happens when @fd is not watched, or -1.
 */
int loop_io(struct loop *l, int fd, void (*fn)(void *arg), void *arg, struct err *e);
void loop_io_off(struct loop *l, int fd);
