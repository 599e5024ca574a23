/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the suites of this folder share. */
#pragma once

#include "runners/suites/suite.h"

#include <stdarg.h>

enum suite_param_kind {
	PARAM_CHOICE,
	PARAM_TASKS,
	PARAM_SECONDS,
	PARAM_SIZE,
	PARAM_COUNT, /* a whole number, 1 or more */
	PARAM_TEXT   /* one line of printable ASCII */
};

/**
 * struct suite_param_def - a parameter that a suite knows.
 * @choices: for PARAM_CHOICE: the values, NULL-terminated; the first is the default.
 * @fallback, @about: see struct suite_param_info.
 */
struct suite_param_def {
	const char *key;
	enum suite_param_kind kind;
	const char *const *choices;
	const char *fallback, *about;
};

/**
 * struct suite - the descriptor of a suite; see suite.h.
 * @params: end with a NULL key. @metrics: end with a NULL name. test_name() ends with NULL.
 * @any_test: the operator names the tests; test_name() lists none.
 * @test_about: may be NULL.
 * @work, @work_per_second: see suite_work(); @work may be NULL.
 */
struct suite {
	const char *name;
	const char *about;
	const struct suite_param_def *params;
	const struct suite_metric_info *metrics;
	unsigned max_tasks;
	enum suite_source source;
	bool bundled;
	bool any_test;
	const char *work;
	bool work_per_second;
	const char *(*test_name)(size_t i);
	const char *(*test_about)(size_t i);
	int (*plan)(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan,
		    struct err *e);
	int (*parse)(const struct suite *s, const char *test, const char *text, size_t len,
		     const struct suite_param *params, size_t n, struct suite_output *out,
		     struct err *e);
	const char *(*headline)(const char *test, const struct suite_param *params, size_t n);
};

extern const struct suite suite_wis, suite_vms;

/* ---- parameters (suite.c) ---- */

/** suite_param_get() - value of the last parameter @key, @def if there is none. */
const char *suite_param_get(const struct suite_param *params, size_t n, const char *key,
			    const char *def);

/** suite_tasks_known() - number of tasks if it can be told without a machine, else 0. */
int suite_tasks_known(const struct suite_param *params, size_t n, unsigned *ret, struct err *e);

/** suite_tasks() - number of tasks on @m: N, or at least one for a percentage of its CPUs. */
int suite_tasks(const struct suite *s, const struct suite_param *params, size_t n, const char *def,
		const struct suite_machine *m, unsigned *ret, struct err *e);

/** suite_seconds() - whole seconds of parameter @key, rounded up; 0 if it is not there. */
int suite_seconds(const struct suite_param *params, size_t n, const char *key, unsigned *ret,
		  struct err *e);

/* ---- plans (suite.c) ---- */

/** suite_plan_add() - append a command made of the words of @fmt (split at blanks). */
void suite_plan_add(struct suite_plan *plan, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** suite_plan_add_phase() - the same for another phase or more copies. */
void suite_plan_add_phase(struct suite_plan *plan, enum suite_phase phase, unsigned copies,
			  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** suite_plan_env(), suite_plan_keep() - append "KEY=value", or a file to keep. */
void suite_plan_env(struct suite_plan *plan, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void suite_plan_keep(struct suite_plan *plan, const char *file);

/* ---- reading outputs (output.c) ---- */

/**
 * struct line - one line of an output, without its line break.
 * @nr: counted from 1. @byte: offset in the text.
 * @whole: was there a line break? The last line of a cut output has none.
 * @cr: was there a carriage return before the line break?
 */
struct line {
	const char *s;
	size_t len;
	unsigned nr;
	size_t byte;
	bool whole, cr;
};

struct lines {
	const char *text;
	size_t len, pos;
	unsigned nr;
};

/** lines_next() - the next line of @ls in *@l; false at the end, *@l is unchanged then. */
bool lines_next(struct lines *ls, struct line *l);

/** struct scan - a cursor in a line. The scan_ functions move it on success only. */
struct scan {
	const char *p, *end;
};

struct scan scan_line(const struct line *l);
bool scan_lit(struct scan *s, const char *lit);
/** scan_u64() - decimal digits without sign, blank or group marks, at most SCAN_MAX. */
bool scan_u64(struct scan *s, uint64_t *ret);
/** scan_f64() - digits with an optional point and further digits; no sign, exponent, nan, inf. */
bool scan_f64(struct scan *s, double *ret);
void scan_blanks(struct scan *s);
bool scan_end(const struct scan *s);
/** line_starts() - does the line start with @lit? */
bool line_starts(const struct line *l, const char *lit);
/** line_is_kernel_log() - "[   12.345678] text", or the same behind "<4>"? */
bool line_is_kernel_log(const struct line *l);
/** line_has() - does the line hold @lit anywhere? */
bool line_has(const struct line *l, const char *lit);

/* So that sums of 10^5 values fit in 64 bits. */
#define SCAN_MAX    UINT64_C(100000000000000)
#define SAMPLES_MAX 100000u

/* ---- writing results (output.c) ---- */

/** suite_problem_add() - note a problem at @l; only the first 100 are kept. */
void suite_problem_add(struct suite_output *out, const struct line *l, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** problem_bad_line() - note that @l is not @what, with the start of the line. */
void problem_bad_line(struct suite_output *out, const struct line *l, const char *what);

/** struct metric_def - what is constant about a metric. */
struct metric_def {
	const char *name;
	const char *unit;
	enum metric_better better;
	enum metric_kind kind;
	const char *about;
};

/**
 * metric_add() - append a metric; values that are not finite are left out silently.
 * @series: @series_n samples or NULL; taken over.
 */
struct suite_metric *metric_add(struct suite_output *out, const struct metric_def *def,
				double value, double *series, size_t series_n);

/** suite_output_metrics_drop() - forget the metrics found so far, not the problems. */
void suite_output_metrics_drop(struct suite_output *out);
