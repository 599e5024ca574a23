/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs (suite, test, params) as rows, and the machines that run them. */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct config;
struct db;
struct err;

/** struct job - a row of table job; job_done() frees it. @params: JSON object of strings. */
struct job {
	int64_t id;
	char *name;
	char *suite;
	char *test;
	json_t *params;
	char *metric;
	char *group;
	char *kconfig; /* "" on machines that boot nothing */
	char *thp;
	int runs_per_boot;
	double min_effect; /* fraction */
	double timeout_s;
};
void job_done(struct job *j);

/**
 * job_check() - is section [job "@name"] sound? Suite, test, params, metric and group exist.
 * Return: 0; ERR_CONFIG with a line that names the key and the choices.
 */
int job_check(const struct config *c, const char *name, struct err *e);

/** job_sync() - the row of [job "@name"] as configured now; a changed definition is a new row. */
int job_sync(struct db *db, const struct config *c, const char *name, int64_t *ret_id,
	     struct err *e);

int job_get(struct db *db, int64_t id, struct job *ret, struct err *e);

/** job_wants_tree() - does [job "@name"] measure the heads of @tree? */
bool job_wants_tree(const struct config *c, const char *name, const char *tree);

/** machine_sync() - make the rows of all [machine] sections. */
int machine_sync(struct db *db, const struct config *c, struct err *e);
/** machine_group() - group of a configured machine; belongs to @c. */
const char *machine_group(const struct config *c, const char *machine);
/** machine_outcome() - @fault NULL: it gave a run; else why not. The third in a row drains it. */
int machine_outcome(struct db *db, const char *machine, const char *fault, struct err *e);
