/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to exec. */
#pragma once

#include "runners/suites/internal.h"

/** struct exec_value - one number that a program of the operator's printed. */
struct exec_value {
	struct scan name, number, unit, better;
};

/** struct exec_out - one reading of an output. @t.items get units and directions on the way. */
struct exec_out {
	struct tally t;
};

/**
 * exec_value_add() - check name, number and words, and add a sample.
 *
 * What is wrong becomes a problem at @l. Return: was it added?
 */
bool exec_value_add(struct exec_out *x, const struct line *l, const struct exec_value *v);

/** exec_lines(), exec_csv(), exec_json() - read all of an output; leave @r at the last line. */
void exec_lines(struct exec_out *x, struct reader *r);
void exec_csv(struct exec_out *x, struct reader *r);
void exec_json(struct exec_out *x, struct reader *r);
