/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs (suite, test, params) as rows. */
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
	json_t *settings; /* object of strings, see struct proto_job; without thp */
	bool aslr;
	json_t *monitors; /* array of names */
	double monitor_interval_s;
};
void job_done(struct job *j);

/**
 * job_check() - are the jobs of [job "@section"] sound? Suite, test, params, metric, group, settings
 * and monitors exist.
 * Return: 0; ERR_CONFIG with a line that names the key and the choices.
 */
int job_check(const struct config *c, const char *section, struct err *e);

/**
 * job_sync() - the row of job @name (see job_def.h) as configured now; a changed definition is a new
 * row.
 */
int job_sync(struct db *db, const struct config *c, const char *name, int64_t *ret_id,
	     struct err *e);

int job_get(struct db *db, int64_t id, struct job *ret, struct err *e);

/** job_wants_tree() - do the jobs of [job "@section"] measure the heads of @tree? */
bool job_wants_tree(const struct config *c, const char *section, const char *tree);
