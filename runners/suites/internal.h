/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the suites of this folder share. */
#pragma once

#include "bot/base/vec.h"
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
 * struct suite_test_def - a test of a suite.
 * @about: one sentence.
 * @headline: name of its headline metric; NULL: the first that is one in the suite's table.
 */
struct suite_test_def {
	const char *name, *about, *headline;
};

/**
 * struct suite - the descriptor of a suite; see suite.h.
 * @tests: end with a NULL name. NULL: test_name() and test_about() tell them.
 * @params: end with a NULL key. @metrics: end with a NULL name. test_name() ends with NULL.
 * @any_test: the operator names the tests; test_name() lists none.
 * @test_about, @headline: may be NULL.
 * @check: what else must hold of the parameters of a job; may be NULL.
 * @work, @work_per_second: see suite_work(); @work may be NULL.
 */
struct suite {
	const char *name;
	const char *about;
	const struct suite_param_def *params;
	const struct suite_metric_info *metrics;
	const struct suite_test_def *tests;
	unsigned max_tasks;
	enum suite_source source;
	bool bundled;
	bool any_test;
	const char *work;
	bool work_per_second;
	int (*check)(const struct suite_param *params, size_t n, struct err *e);
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

#define SUITE(symbol, name) extern const struct suite suite_##symbol;
#include "runners/suites/suites.def"
#undef SUITE

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

/** suite_count() - a whole number of 1 to @max, @def if @key is not there. */
int suite_count(const struct suite_param *params, size_t n, const char *key, unsigned def,
		unsigned max, unsigned *ret, struct err *e);

/** suite_bytes() - a size, @def if @key is not there. */
int suite_bytes(const struct suite_param *params, size_t n, const char *key, uint64_t def,
		uint64_t *ret, struct err *e);

/* ---- plans (plan.c) ---- */

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

/** suite_plan_identify() - append a file that tells which version of the suite this is. */
void suite_plan_identify(struct suite_plan *plan, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * suite_plan_tool() - append a command whose program is @tool in the folder of the suite that the
 * operator gave, or on the machine's PATH; @fmt gives its arguments, split at blanks.
 */
void suite_plan_tool(struct suite_plan *plan, const struct suite_machine *m, const char *tool,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** suite_plan_wrap() - put @words, a program and arguments, in front of the last command. */
void suite_plan_wrap(struct suite_plan *plan, const char *words);

/** suite_plan_repeat() - have the last command @times times in all. */
void suite_plan_repeat(struct suite_plan *plan, unsigned times);

/**
 * suite_plan_command() - append a command that an operator wrote.
 * @key: name of the parameter that it comes from, for messages.
 *
 * Words are split at blanks. What stands between two ' or two " is taken as it is, blanks
 * included, and is part of the word around it. There are no escapes, variables or patterns.
 * Return: 0; ERR_PARSE for a quote that is not closed or no word at all.
 */
int suite_plan_command(struct suite_plan *plan, enum suite_phase phase, const char *key,
		       const char *text, struct err *e);

/** suite_need_memory() - ERR_NOSPACE with the numbers if @m has less than @bytes free. */
int suite_need_memory(const char *what, uint64_t bytes, const struct suite_machine *m,
		      struct err *e);

/* ---- reading outputs (output.c) ---- */

/**
 * output_clean() - take ANSI escape sequences out, and NUL bytes at the ends of lines.
 * @ret: the cleaned text, with as many lines; left empty where there is nothing to take out.
 */
bool output_clean(const char *text, size_t len, struct strbuf *ret);

/** output_relocate() - correct the byte of each problem of a cleaned text to that in @text. */
void output_relocate(const char *text, size_t len, struct suite_output *out);

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
/**
 * line_match() - does the whole line fit @pattern?
 *
 * A blank stands for one blank or more, "_" for any number of them; both also match tabs. "%f" is a
 * number as scan_f64() reads it, "%g" the same with or without groups of three digits set off by
 * commas (both double *), "%u" what scan_u64() reads (uint64_t *), "%w" a word (struct scan *), and
 * "%*" whatever is left of the line; "%%" is a percent sign. Blanks at the end of the line do not matter. Results may be
 * written even if the line does not fit.
 */
bool line_match(const struct line *l, const char *pattern, ...);

/** line_words() - split at blanks and tabs. Return: how many words; @max + 1 if there are more. */
size_t line_words(const struct line *l, struct scan *words, size_t max);
/** word_is(), word_f64(), word_u64() - the same for a whole word. */
bool word_is(struct scan w, const char *lit);
bool word_f64(struct scan w, double *ret);
bool word_u64(struct scan w, uint64_t *ret);

/** struct reader - the lines of an output that may mean something. */
struct reader {
	struct lines ls;
	struct line l;
	struct suite_output *out;
};

void reader_init(struct reader *r, const char *text, size_t len, struct suite_output *out);
/**
 * reader_next() - the next line in @r->l; false at the end, @r->l is the last line then.
 *
 * Lines of the kernel log are left out, with a problem. A last line without line break may have
 * lost its end, and with it digits of a number: left out too.
 */
bool reader_next(struct reader *r);

/** line_has() - does the line hold @lit anywhere? */
bool line_has(const struct line *l, const char *lit);

/* So that sums of 10^5 values fit in 64 bits. */
#define SCAN_MAX    UINT64_C(100000000000000)
#define SAMPLES_MAX 100000u

/* ---- writing results (output.c) ---- */

/** suite_problem_add() - note a problem at @l; only the first 100 are kept, other bytes than ASCII
 * that can be printed become a ?. */
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

/* ---- samples of named metrics (tally.c) ---- */

/* More names than these are a mistake or an attack; more samples are not kept one by one. */
#define TALLY_NAMES_MAX	  4096
#define TALLY_SAMPLES_MAX 1000

/**
 * struct tally_item - a metric and its samples so far.
 * @name: owned; a unit that is not static stands behind its NUL.
 * @drop: leave it out; somebody said why.
 */
struct tally_item {
	char *name;
	const struct suite_metric_info *info;
	const char *unit;
	enum metric_better better;
	enum metric_kind kind;
	bool headline, drop;
	uint64_t hash;
	double sum;
	size_t n;
	double *samples;
	size_t samples_cap;
};

/** struct tally - all metrics of an output; memory goes with the names, not with the samples. */
struct tally {
	struct suite_output *out;
	VEC(struct tally_item) items;
	uint32_t *slots;
	size_t slots_n;
	bool full;
};

/**
 * tally_add() - one sample of the metric @info.
 * @l: for a problem when there are too many names.
 * @star: what stands for the * in @info->name, NULL where there is none.
 * @unit: instead of @info->unit, copied; NULL: that.
 *
 * Return: the item, until the next call; NULL if there are too many.
 */
struct tally_item *tally_add(struct tally *t, const struct line *l,
			     const struct suite_metric_info *info, const struct scan *star,
			     const struct scan *unit, double value);

/** tally_text() - tally_add() with a C string for @star, and the unit of @info. */
struct tally_item *tally_text(struct tally *t, const struct line *l,
			      const struct suite_metric_info *info, const char *star, double value);

/**
 * tally_finish() - means of the samples as metrics of the output, and free the tally.
 * @l: the last line, for problems.
 * @want: samples that each metric must have; 0: any number.
 * @headline: what is missing if no headline metric comes out, "hackbench.throughput".
 *
 * A headline metric that is not positive is left out. No headline metric: a problem.
 */
void tally_finish(struct tally *t, const struct line *l, unsigned want, const char *headline);

/** tally_done() - free it without metrics. */
void tally_done(struct tally *t);

/** suite_asked() - how many runs and tasks the parameters ask for; 0 where they do not say. */
int suite_asked(const struct suite_param *params, size_t n, unsigned *ret_iterations,
		unsigned *ret_tasks, struct err *e);

/** METRICS_END, PARAMS_END - last rows of the tables of a descriptor. */
#define METRICS_END                                             \
	{                                                       \
		NULL, NULL, NULL, BETTER_NONE, KIND_RATE, false \
	}
#define PARAMS_END                                   \
	{                                            \
		NULL, PARAM_CHOICE, NULL, NULL, NULL \
	}
#define PARAM_ITERATIONS(fallback)                                 \
	{                                                          \
		"iterations", PARAM_COUNT, NULL, fallback,         \
			"runs of the program, one after the other" \
	}
#define ITERATIONS_MAX 1000

/** suite_output_metrics_drop() - forget the metrics found so far, not the problems. */
void suite_output_metrics_drop(struct suite_output *out);
