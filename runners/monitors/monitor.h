/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Monitors: what is recorded beside a run, and what the recordings mean. Pure.
 *
 * A recording is text. Each sample begins with a line "#sample SECONDS" (since the run began, with
 * decimals), each file in it with a line "#file PATH"; what follows is the file as it was. What a
 * program printed is kept as it came, behind one line "#program NAME".
 */
#pragma once

#include "runners/suites/suite.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum monitor_how {
	MONITOR_RUSAGE,
	MONITOR_ENDS,
	MONITOR_SAMPLES,
	MONITOR_SLOW,
	MONITOR_PROGRAM
};

/** struct monitor - a row of monitors.def; static. */
struct monitor {
	const char *name;
	const char *files;
	enum monitor_how how;
	bool cheap;
	const char *about;
};

/** monitor_find() - the monitor called @name, or NULL. monitor_list() - number @i, or NULL. */
const struct monitor *monitor_find(const char *name);
const struct monitor *monitor_list(size_t i);

/** monitor_names() - all as "a, b, c", for messages. Static string. */
const char *monitor_names(void);

/**
 * struct monitor_run - what counts are set in relation to.
 * @span_s: seconds that the run took; 0 or less: not known, no rates then.
 * @work: units of work that were done in all; 0 or less: not known, nothing per unit of work then.
 * @cpus: of the machine; 0: not known.
 */
struct monitor_run {
	double span_s;
	double work;
	int cpus;
};

/**
 * monitor_parse() - append the metrics of a recording to @out.
 * @text: @len bytes of anything.
 *
 * Counters of events give "NAME" per second and "NAME.per_op" per unit of work, gauges their mean
 * over the samples weighted by time. None is a headline. What cannot be read is left out, and a
 * problem says why; a counter that fell is left out as well, and sums over CPUs or nodes when these
 * came or went. O(@len) time, memory bounded by the number of metrics, of which there are 20,000 at
 * most. A counter that was 0 all the time is 0, one that is not there is missing.
 *
 * Seconds are those between the first and the last sample, so that a cut recording has right rates;
 * "NAME.per_op" is there only where the samples cover the run. Programs are read as perf stat -x, or
 * -j (with -I or without), perf script or perf report --stdio, and turbostat print; mpstat also as
 * mpstat and sar print.
 */
void monitor_parse(const struct monitor *m, const char *text, size_t len,
		   const struct monitor_run *run, struct suite_output *out);

/**
 * struct profile_fold - sums up what perf script prints while it comes, so that the recording of
 * perf-profile stays below some MB however many samples there are. Memory is bounded (some 30 MB).
 *
 * The command is
 *	perf script -F comm,pid,tid,time,period,event,ip,sym,dso
 * and the recording what profile_fold_text() gives at its end.
 */
struct profile_fold;
struct strbuf;

struct profile_fold *profile_fold_new(void);
void profile_fold_free(struct profile_fold *f);

/** profile_fold_feed() - the next @len bytes, cut anywhere. */
void profile_fold_feed(struct profile_fold *f, const char *text, size_t len);

/** profile_fold_text() - append the recording to @out; to be called once, at the end. */
void profile_fold_text(struct profile_fold *f, struct strbuf *out);

/** monitor_span() - seconds from the first to the last sample of a recording; 0 if not known. */
double monitor_span(const char *text, size_t len);

/** monitor_parse_rusage() - "time.*" from the members of struct proto_run_end's rusage. */
struct json_t;
void monitor_parse_rusage(const struct json_t *rusage, const struct monitor_run *run,
			  struct suite_output *out);
