/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to stress-ng. */
#pragma once

#include "runners/suites/internal.h"

enum {
	STRESS_RATE,
	STRESS_OPS,
	STRESS_CPU_RATE,
	STRESS_REAL,
	STRESS_USER,
	STRESS_SYSTEM,
	STRESS_CPU,
	STRESS_RSS,
	STRESS_WORKLOAD,
	STRESS_MISC
};

extern const struct suite_metric_info stress_ng_metrics[];

/** struct stress - one reading of an output. */
struct stress {
	struct tally t;
	const char *test;
	double ops;    /* of all stressors */
	bool complete; /* has every stressor that was started told its operations? */
	bool broken;   /* did one of them tell nothing that can be read? */
	bool failed;   /* the program says that its numbers are no good */
	bool table;    /* the heading of the table was there */
	char *started; /* " mmap pagemove ", from the line that tells; NULL */
};

/** stress_metric() - a sample of row @row for the stressor @name; a headline if it is the test. */
void stress_metric(struct stress *st, const struct line *l, size_t row, struct scan name, double v);

/** stress_ops() - bogo ops of a stressor; none at all is a failure. Return: were there any? */
bool stress_ops(struct stress *st, const struct line *l, struct scan name, double ops);

/**
 * stress_misc() - one of the metrics that a stressor has of its own.
 * @what: "minor page faults per sec", or with dashes instead of blanks.
 */
void stress_misc(struct stress *st, const struct line *l, struct scan name, struct scan what,
		 double v);

/** stress_text(), stress_yaml() - all lines of an output of that kind; leave @r at the last. */
void stress_text(struct stress *st, struct reader *r);
void stress_yaml(struct stress *st, struct reader *r);
