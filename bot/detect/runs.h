/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of one kernel on one machine, and their file format kperfbot-runs/1. */
#pragma once

#include "bot/base/vec.h"
#include "bot/detect/findings.h"
#include "bot/detect/nametab.h"
#include "bot/detect/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

enum {
	RUNS_METRICS_MAX = 1000000,
	RUNS_RUNS_MAX = 100000,
	RUNS_NAME_MAX = 1000,
	RUNS_NOTES_MAX = 20
};

/**
 * struct runs_metric - one metric and its values.
 * @name: 1 to RUNS_NAME_MAX bytes; belongs to the runs. @unit: "" if unknown; owned.
 * @kind: what it counts, if the file says so.
 * @described: the file says what the metric is; otherwise @better and @headline are guesses.
 * @samples: one a run that has a value; @run: the same runs as indexes into struct runs.
 * @stamp: of the object that named it last; private.
 */
struct runs_metric {
	const char *name;
	char *unit;
	enum findings_kind kind;
	enum detect_better better;
	bool headline;
	bool described;
	VEC(struct detect_sample) samples;
	VEC(size_t) run;
	uint64_t stamp;
};

/** struct runs_run - @boot as in struct detect_sample; @order NaN if unknown. */
struct runs_run {
	int boot;
	double order;
};

/**
 * struct runs - what was measured of one kernel; `struct runs r = { 0 };`.
 * @kernel, @machine: NULL or "" if unknown; owned.
 * @metrics: in the order they were met. @runs: in the order of the files.
 * @notes: what was ignored, one line each, without the file's name; owned.
 * @names, @boots: of the metrics and of the boots by number. @stamp, @next: private.
 */
struct runs {
	char *kernel;
	char *machine;
	VEC(struct runs_metric) metrics;
	VEC(struct runs_run) runs;
	VEC(char *) notes;
	struct nametab names;
	struct nametab boots;
	uint64_t stamp;
	size_t next;
};

void runs_done(struct runs *r);

/**
 * runs_parse() - read a kperfbot-runs/1 object and add its runs to @r.
 * @text: @len untrusted bytes.
 *
 * When @r holds runs already, the file must be of the same kernel, and its descriptors must agree
 * with what is there; runs with the same boot name are of the same boot. Unknown keys are noted.
 * Pure. On failure @r may hold part of the file: only runs_done() is left to do.
 * Return: 0; ERR_PARSE (no JSON, wrong types; says where); ERR_FORMAT (other format or version);
 * ERR_CONFLICT (kernel, unit or direction differ); ERR_TOO_BIG.
 */
int runs_parse(struct runs *r, const char *text, size_t len, struct err *e);

/** runs_json() - the runs as a kperfbot-runs/1 object; a new reference. */
json_t *runs_json(const struct runs *r);

/** runs_metric_get() - the metric called @name, made if it is new; belongs to @r. */
struct runs_metric *runs_metric_get(struct runs *r, const char *name);
struct runs_metric *runs_metric_get_n(struct runs *r, const char *name, size_t len);

/** runs_metric_find() - the metric called @name, NULL if there is none; belongs to @r. */
const struct runs_metric *runs_metric_find(const struct runs *r, const char *name);

/** runs_add() - a new run. @boot: name of its boot, NULL: its own. Return: its index. */
size_t runs_add(struct runs *r, const char *boot, double order);

/** runs_add_value() - @value of metric @m in run @run, an index from runs_add(). */
void runs_add_value(struct runs *r, struct runs_metric *m, size_t run, double value);

/**
 * runs_check_pair() - may these two be compared?
 * Return: 0; ERR_CONFLICT naming the metric whose unit or direction differs.
 */
int runs_check_pair(const struct runs *base, const struct runs *head, struct err *e);
