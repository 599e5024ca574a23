/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ending everything that a run has started, however far it ran away. */
#pragma once

#include <stdbool.h>

/**
 * tree_kill() - SIGKILL to every descendant, and reap all of them.
 * @whole_machine: nothing but us and PID 1 matters here: kill every process.
 *
 * The caller is a child subreaper, so descendants whose parents died are its children.
 * Return: how many processes were reaped.
 */
unsigned tree_kill(bool whole_machine);
