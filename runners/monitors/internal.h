/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the monitors of this folder share. */
#pragma once

#include "runners/monitors/monitor.h"
#include "runners/monitors/names.h"
#include "runners/suites/internal.h"

/* A machine with 500 CPUs, 60 disks and 300 slab caches has some 3,000. */
#define MONITOR_METRICS_MAX 20000u
#define MONITOR_NAME_MAX    200u

/* ---- metrics (metric.c) ---- */

/**
 * struct meaning - what is constant about a kind of numbers.
 * @gauge: a level, not a count of events.
 * @unit: of gauges; of counters, the unit of what is counted ("" for events).
 * @scale: what numbers are multiplied by to get that unit.
 * @per_cpu: the sum over CPUs or nodes; it counts only while their set stays the same.
 */
struct meaning {
	bool gauge;
	const char *unit;
	double scale;
	bool per_cpu;
	enum metric_kind kind;
	const char *about;
};

/** meaning_rate_unit(), meaning_op_unit() - "B/s", "B/op" for "B"; "1/s" for "". Static strings. */
const char *meaning_rate_unit(const struct meaning *w);
const char *meaning_op_unit(const struct meaning *w);

/** metric_name() - @fmt in @buf with all but visible ASCII replaced by '_', cut to fit. */
size_t metric_name(char buf[MONITOR_NAME_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** metric_name_clean() - the same for @len bytes, in place. */
void metric_name_clean(char *s, size_t len);

/** metric_give() - append a metric without direction. @series: taken over; may be NULL. */
void metric_give(struct suite_output *out, const char *name, const char *unit,
		 enum metric_kind kind, const char *about, double value, double *series,
		 size_t series_n);

/**
 * metric_give_count() - append @total events as NAME per second of @span_s and NAME.per_op per unit
 * of work; what cannot be had because @span_s or @work is 0 or less is left out.
 */
void metric_give_count(struct suite_output *out, const char *name, const struct meaning *w,
		       double total, double span_s, double work);

/** number_u64() - the whole of @len bytes as digits, up to 2^64-1. */
bool number_u64(const char *s, size_t len, uint64_t *ret);
/** number_f64() - the same with a point and further digits; no sign, exponent, nan, inf. */
bool number_f64(const char *s, size_t len, double *ret);

/** struct word - part of a line. */
struct word {
	const char *s;
	size_t len;
};

/** word_next() - the next word between blanks and tabs; false at the end. */
bool word_next(struct scan *s, struct word *ret);
bool word_eq(const struct word *w, const char *lit);
/** words_split() - up to @max words of @l. Return: how many there are, also when more than @max. */
size_t words_split(const struct line *l, struct word *words, size_t max);

/* ---- recordings of files (reading.c) ---- */

struct value;

/**
 * struct reading - the state while a recording is read.
 * @path, @path_len: of the file that is being read.
 * @sample: number of the sample from 1. @samples: how many were read in all.
 * @line: the current line. @file_line: its number in the file, from 1.
 * @file_skip: set by a parser that cannot read the rest of this file.
 * @scratch: the parser's own, 0 at the start of each file.
 */
struct reading {
	const struct monitor *m;
	const struct monitor_run *run;
	struct suite_output *out;
	const char *path;
	size_t path_len;
	unsigned sample, samples;
	double at_s, first_s;
	struct line line;
	unsigned file_line;
	bool file_skip;
	unsigned scratch;
	/* private to reading.c */
	struct names names;
	struct value *values;
	size_t values_cap;
	uint64_t set, set_first;
	bool in_sample, set_changed, full;
	struct names files;
	unsigned *file_seen;
};

/** reading_value() - @v stands for @key in this sample ("MONITOR." goes in front). */
void reading_value(struct reading *r, const struct meaning *w, uint64_t v, const char *key,
		   size_t len);

/** reading_add() - the same, added to what other lines of this sample gave. */
void reading_add(struct reading *r, const struct meaning *w, uint64_t v, const char *key,
		 size_t len);

/** reading_member() - a CPU or node that sums of this sample are made of. */
void reading_member(struct reading *r, const char *s, size_t len);

/** reading_bad() - the current line is not @what. */
void reading_bad(struct reading *r, const char *what);

/** reading_file() - take one line of a file; @r->line is its text. One function per monitor. */
typedef void reading_fn(struct reading *r);
reading_fn read_vmstat, read_proc_vmstat, read_meminfo, read_numa_vmstat, read_interrupts,
	read_softirqs, read_schedstat, read_slabinfo, read_diskstats;

/** reading_run() - read all of @text with @fn, then append the metrics. */
void reading_run(const struct monitor *m, reading_fn *fn, const char *text, size_t len,
		 const struct monitor_run *run, struct suite_output *out);

/** struct mpstat_share - a column of mpstat: its name there without '%', what it means. */
struct mpstat_share {
	const char *key, *about;
};
/** mpstat_shares - in the order of /proc/stat; ends with a NULL key. */
extern const struct mpstat_share mpstat_shares[];

/* ---- monitors with parsers of their own ---- */

typedef void monitor_parse_fn(const struct monitor *m, const char *text, size_t len,
			      const struct monitor_run *run, struct suite_output *out);
monitor_parse_fn parse_mpstat, parse_mpstat_files, parse_perf_stat, parse_perf_profile,
	parse_turbostat;
