/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings in tests/data/monitors, and what they shall mean. */
#pragma once

#include "runners/monitors/monitor.h"

#include <stddef.h>

/** struct recording - file NAME.txt of @monitor, of a run of @span_s. */
struct recording {
	const char *name, *monitor;
	double span_s;
};

/** recordings - all of them; ends with a NULL name. */
extern const struct recording recordings[];

/** recording_load() - text of tests/data/monitors/@name.txt; free() it. */
char *recording_load(const char *name, size_t *ret_len);

/** recording_parse() - monitor_parse() of text for 10 units of work; suite_output_done(@out). */
void recording_parse(const char *monitor, const char *text, size_t len, double span_s,
		     struct suite_output *out);

/** recording_read() - the same for a file. */
void recording_read(const char *name, const char *monitor, double span_s, struct suite_output *out);

/** expect_metric() - @name has @value and @unit. expect_missing() - there is no @name. */
void expect_metric(const struct suite_output *out, const char *name, double value,
		   const char *unit);
void expect_missing(const struct suite_output *out, const char *name);
/** expect_problem() - a problem holds @text. */
void expect_problem(const struct suite_output *out, const char *text);

/** check_sane() - what holds for any input. */
void check_sane(const struct suite_output *out);
