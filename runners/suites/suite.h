/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The benchmark suites: what may be asked of them, what to run on a machine, and what their output
 * means. Pure: text and numbers in, text and numbers out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/** struct suite - one suite; static, never freed. */
struct suite;

enum metric_better {
	BETTER_NONE,
	BETTER_HIGHER,
	BETTER_LOWER
};
enum metric_kind {
	KIND_RATE,
	KIND_TIME,
	KIND_COUNT,
	KIND_SHARE
};

/**
 * struct suite_param - one parameter of a job.
 * @key: "mode", "nr_task", "runtime", "unit_size", "pin".
 * @value: as the config has it: "process", "100%", "2s", "64M", "core".
 *
 * When an output is parsed, the key "tasks" may be given too: the number of tasks that the plan
 * came to, for jobs whose nr_task is a percentage. Where the same key comes twice, the last counts.
 */
struct suite_param {
	char *key;
	char *value;
};

/**
 * struct suite_machine - what a plan needs to know of a machine.
 * @cpus: logical CPUs that are online.
 */
struct suite_machine {
	int cpus;
	uint64_t mem_total_bytes, mem_available_bytes, swap_bytes;
};

/** struct suite_command - @argv is NULL-terminated; argv[0] is a program's name, not its path. */
struct suite_command {
	char **argv;
};

/**
 * struct suite_plan - what the machine shall run.
 * @commands: run one after another; owned.
 * @deadline_s: seconds after which all of it together is given up.
 * @tasks: parallel tasks that nr_task came to.
 */
struct suite_plan {
	struct suite_command *commands;
	size_t n;
	double deadline_s;
	unsigned tasks;
};

/**
 * struct suite_metric - one number that an output gave.
 * @name: "will-it-scale.per_process_ops"; owned.
 * @unit, @about: static text.
 * @headline: may its change be reported?
 * @value: finite, and positive where @headline.
 * @series: samples inside the run in the order of time, same unit as @value; NULL if there are
 *	none; owned.
 */
struct suite_metric {
	char *name;
	const char *unit;
	enum metric_better better;
	enum metric_kind kind;
	bool headline;
	const char *about;
	double value;
	double *series;
	size_t series_n;
};

/**
 * struct suite_problem - something in an output that is not as it should be.
 * @line: counted from 1; the last line where something is missing at the end.
 * @byte: offset of the start of that line, counted from 0.
 * @text: one line of printable ASCII; owned.
 */
struct suite_problem {
	unsigned line;
	size_t byte;
	char *text;
};

/** struct suite_output - what an output means; @problems holds the first 100 at most. */
struct suite_output {
	struct suite_metric *metrics;
	size_t n;
	struct suite_problem *problems;
	size_t problems_n;
};

/** suite_find() - the suite called @name, or NULL. */
const struct suite *suite_find(const char *name);

/** suite_list() - suite number @i, or NULL after the last. */
const struct suite *suite_list(size_t i);

/** suite_names() - all suites as "a, b, c", for messages. Static string. */
const char *suite_names(void);

/** suite_name() - "will-it-scale". */
const char *suite_name(const struct suite *s);

/** suite_test() - name of test number @i of @s, or NULL after the last. */
const char *suite_test(const struct suite *s, size_t i);

/**
 * suite_check() - can a job with this test and these parameters be meant? For config time.
 *
 * Return: 0; ERR_NOENT if there is no such test or parameter, ERR_PARSE or ERR_RANGE for a bad
 * value. The reason names the bad word and the choices.
 */
int suite_check(const struct suite *s, const char *test, const struct suite_param *params, size_t n,
		struct err *e);

/** suite_check_params() - the same for parameters alone; "tasks" is one of them here. */
int suite_check_params(const struct suite *s, const struct suite_param *params, size_t n,
		       struct err *e);

/**
 * suite_plan_make() - the commands that run @test on the machine @m.
 * @ret: filled on success only; free it with suite_plan_done().
 *
 * Return: 0; what suite_check() gives; ERR_RANGE if the machine has no CPUs to take a percentage of
 * or more tasks come out than the suite can run; ERR_NOSPACE if its memory is too small.
 */
int suite_plan_make(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *ret, struct err *e);
void suite_plan_done(struct suite_plan *plan);

/**
 * suite_parse() - metrics from what the commands of a plan printed.
 * @test: NULL if not known.
 * @text: @len bytes of anything.
 * @ret: filled on success only; free it with suite_output_done().
 *
 * A metric that the output does not give is left out, and a problem says why. O(@len).
 * Return: 0, also when nothing could be made of the text; ERR_PARSE or ERR_RANGE for a parameter
 * that cannot be understood.
 */
int suite_parse(const struct suite *s, const char *test, const char *text, size_t len,
		const struct suite_param *params, size_t n, struct suite_output *ret,
		struct err *e);
void suite_output_done(struct suite_output *out);

/** suite_metric_find() - the metric called @name in @out, or NULL; belongs to @out. */
const struct suite_metric *suite_metric_find(const struct suite_output *out, const char *name);

/**
 * suite_headline() - name of the metric that stands for a job, "will-it-scale.per_process_ops".
 * @test: NULL if not known.
 */
const char *suite_headline(const struct suite *s, const char *test,
			   const struct suite_param *params, size_t n);

/** metric_better_name(), metric_kind_name() - "higher", "lower", "none"; "rate", "time", … */
const char *metric_better_name(enum metric_better b);
const char *metric_kind_name(enum metric_kind k);
