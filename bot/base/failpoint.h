/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named places where a test can make the program fail: KPERFBOT_FAILPOINTS="worker.begin=kill@3,…".
 * Compiled out unless KPERFBOT_WITH_FAILPOINTS is defined (all presets but release).
 */
#pragma once

#ifdef KPERFBOT_WITH_FAILPOINTS
/** failpoint_hit() - actions: kill (SIGKILL to us), exit (status 1), sleep (5 s); @N: at the N-th hit
 * in this process (default 1). */
void failpoint_hit(const char *name);
#define FAILPOINT(name) failpoint_hit(name)
#else
#define FAILPOINT(name) ((void)0)
#endif
