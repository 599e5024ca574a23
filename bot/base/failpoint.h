/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named places where a test can make the program fail: KPERFBOT_FAILPOINTS="worker.begin=kill@3,…".
 * Compiled out unless KPERFBOT_WITH_FAILPOINTS is defined (all presets but release).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef KPERFBOT_WITH_FAILPOINTS
/** failpoint_hit() - actions: kill (SIGKILL to us), stop (SIGSTOP), exit (status 1), sleep (5 s); @N:
 * in this process (default 1). */
void failpoint_hit(const char *name);
#define FAILPOINT(name) failpoint_hit(name)

/*
 * Every change that a process makes to the database is a point of its own, before it is durable and
 * after: KPERFBOT_FAILPOINTS_COMMITS="ACTION HOW KINDS FOLDER". ACTION kill, or stop (SIGSTOP). HOW
 * each: all changes of each piece of work, one after the other, so that a piece of work of two
 * changes is begun five times; once: so for each kind only. KINDS: as failpoint_scope() is told them,
 * with commas. FOLDER: how far it is, in a file for each, as the process that dies cannot remember;
 * its file "log" has a line "KIND ID CHANGE before|after" for each death.
 */

/** failpoint_scope() - what this process does from now on: @kind "bisect" and work @id, or a role, 0. */
void failpoint_scope(const char *kind, int64_t id);
/** failpoint_commit() - a change is about to be made durable, or @done. */
void failpoint_commit(bool done);
/** failpoint_last() - the next change ends the piece of work: it may begin afresh under its id. */
void failpoint_last(void);
/** failpoint_end() - the process has done what it was begun for. */
void failpoint_end(void);
#else
#define FAILPOINT(name) ((void)0)
static inline void failpoint_scope(const char *kind, int64_t id)
{
	(void)kind;
	(void)id;
}
static inline void failpoint_commit(bool done)
{
	(void)done;
}
static inline void failpoint_last(void)
{
}
static inline void failpoint_end(void)
{
}
#endif
