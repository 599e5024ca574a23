/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ending everything that a run has started, however far it ran away. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct tree - what is to be ended.
 * @whole_machine: nothing but us and PID 1 matters here: kill every process, unless some are spared.
 * @spare, @nspare: our children that live on, with all of theirs.
 * @reaped: told of each child that ended, also of a spared one; or NULL.
 */
struct tree {
	bool whole_machine;
	const pid_t *spare;
	size_t nspare;
	void (*reaped)(void *arg, pid_t pid, int status);
	void *arg;
};

/**
 * tree_kill() - SIGKILL to every descendant, and reap all of them.
 *
 * The caller is a child subreaper, so descendants whose parents died are its children.
 * Return: how many processes were reaped, spared ones not counted.
 */
unsigned tree_kill(const struct tree *t);

/** tree_children() - our children now, to be freed; NULL and 0 without any. */
pid_t *tree_children(size_t *ret_n);
