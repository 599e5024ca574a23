/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIGTERM, SIGINT and SIGHUP: the agent ends its run, puts the machine back and leaves. */
#pragma once

/**
 * stop_install() - from now on these signals are only noted.
 * What blocks is interrupted, and again each second, so that none is lost between a look and a wait.
 */
void stop_install(void);

/** stop_reset() - the default again, for a child before it executes a program. */
void stop_reset(void);

/** stop_signal() - the signal that came, or 0. */
int stop_signal(void);
