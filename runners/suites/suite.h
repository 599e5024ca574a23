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
 * @nodes: NUMA nodes with memory; 0: not known, taken as 1.
 * @path: folder of the unmodified upstream suite on that machine; NULL: the bundled workloads, or
 *	what is on the machine's PATH.
 */
struct suite_machine {
	int cpus;
	int nodes;
	uint64_t mem_total_bytes, mem_available_bytes, swap_bytes;
	const char *path;
};

/** enum suite_phase - set-up and clean-up are outside of the measured time and of rusage. */
enum suite_phase {
	PHASE_RUN,
	PHASE_SETUP,
	PHASE_CLEANUP, /* runs however the run ended */
};

/**
 * struct suite_command - one program to start.
 * @argv: NULL-terminated; argv[0] is a program's name, or its path where it has a slash.
 * @copies: started at the same time, 1 or more; "{i}" in an argument is the copy's number from 0.
 */
struct suite_command {
	char **argv;
	enum suite_phase phase;
	unsigned copies;
};

/**
 * struct suite_plan - what the machine shall run.
 * @commands: run one after another; owned.
 * @env: "KEY=value" for all commands, NULL-terminated or NULL; owned.
 * @dir: working directory, NULL: an empty one of the run's own; owned.
 * @keep: files in the working directory that are kept as raw output, NULL-terminated or NULL; owned.
 * @identify: files that tell which version of the suite this is, by path or in the working directory;
 *	NULL-terminated or NULL: the programs that run do; owned.
 * @deadline_s: seconds after which all of it together is given up.
 * @tasks: parallel tasks that nr_task came to.
 * @repeat_s: the commands of PHASE_RUN are repeated as long as less than this has passed; 0: once.
 * @repeat_max: at most so often; 0: no limit but the time.
 * @nofile: open files that a task needs; 0: the machine's limit will do.
 * @hang_ok: a run that had to be killed at its deadline counts if it printed its result before:
 *	upstream's malloc1_threads prints its average and never ends.
 */
struct suite_plan {
	struct suite_command *commands;
	size_t n;
	char **env;
	char *dir;
	char **keep;
	char **identify;
	double deadline_s;
	unsigned tasks;
	double repeat_s;
	unsigned repeat_max;
	unsigned nofile;
	bool hang_ok;
};

/** enum suite_source - which output of the commands the parser reads. */
enum suite_source {
	SOURCE_STDOUT,
	SOURCE_STDERR,
};

/**
 * struct suite_param_info - a parameter, for listings. All static.
 * @choices: its values, NULL-terminated; NULL: numbers, times or text.
 * @fallback: what counts when it is not given, in words where it depends on the machine.
 * @is_text: a comma in it is a part of the value and makes no list of values.
 */
struct suite_param_info {
	const char *key, *fallback, *about;
	const char *const *choices;
	bool is_text;
};

/**
 * struct suite_metric_info - a metric that outputs of a suite may give, for listings. All static.
 * @name: with a * for each part that depends on the output.
 */
struct suite_metric_info {
	const char *name, *unit, *about;
	enum metric_better better;
	enum metric_kind kind;
	bool headline;
};

/**
 * struct suite_metric - one number that an output gave.
 * @name: "will-it-scale.per_process_ops"; owned.
 * @unit: lives as long as @name. @about: static text.
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

/** suite_about(), suite_test_about() - one sentence; the latter NULL where the name says it all. */
const char *suite_about(const struct suite *s);
const char *suite_test_about(const struct suite *s, size_t i);

/** suite_param_info(), suite_metric_info() - number @i in *@ret; false after the last. */
bool suite_param_info(const struct suite *s, size_t i, struct suite_param_info *ret);
bool suite_metric_info(const struct suite *s, size_t i, struct suite_metric_info *ret);

/** suite_source() - what suite_parse() wants to see. */
enum suite_source suite_source(const struct suite *s);

/** suite_is_bundled() - do the bundled workloads stand in where no upstream path is given? */
bool suite_is_bundled(const struct suite *s);

/**
 * suite_work() - name of the metric that counts the work done, for counts per unit of work.
 * @ret_per_second: it counts work per second, not in all.
 * Return: static string; NULL if the suite has none.
 */
const char *suite_work(const struct suite *s, bool *ret_per_second);

/**
 * suite_check() - can a job with this test and these parameters be meant? For config time.
 *
 * Return: 0; ERR_NOENT if there is no such test or parameter, ERR_PARSE or ERR_RANGE for a bad
 * value. The reason names the bad word and the choices.
 */
int suite_check(const struct suite *s, const char *test, const struct suite_param *params, size_t n,
		struct err *e);

/** suite_check_test() - the same for the test alone. */
int suite_check_test(const struct suite *s, const char *test, struct err *e);

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
