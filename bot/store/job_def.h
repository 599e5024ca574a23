/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs as the configuration names them. A [job] section is one job, or one for each combination of
 * the values that its params list: [job "pf1"] with mode=process,thread and nr_task=1,50% makes
 * pf1.process.1, pf1.process.50pct, pf1.thread.1 and pf1.thread.50pct.
 */
#pragma once

#include "bot/base/vec.h"
#include "runners/suites/suite.h"

#include <stdbool.h>
#include <stddef.h>

struct config;
struct err;

/** JOB_DEFS_MAX - most jobs that one section may make. */
#define JOB_DEFS_MAX 1000

/**
 * struct job_def - one job of a section.
 * @name: the section's, with the values that vary; owned.
 * @section: belongs to the configuration.
 * @params: one value for each key; owned.
 */
struct job_def {
	char *name;
	const char *section;
	struct suite_param *params;
	size_t nparams;
};

/** struct job_defs - in the order of the configuration; job_defs_done() frees it. */
struct job_defs {
	VEC(struct job_def) list;
};
void job_defs_done(struct job_defs *d);

/**
 * job_defs_read() - append the jobs of [job "@section"].
 * Return: 0; ERR_CONFIG for a param without "=", given twice, or with an empty value in its list;
 * for two combinations with one name, and for more than JOB_DEFS_MAX.
 */
int job_defs_read(const struct config *c, const char *section, struct job_defs *ret, struct err *e);

/** job_defs_all() - the jobs of all sections. */
int job_defs_all(const struct config *c, struct job_defs *ret, struct err *e);

/**
 * job_def_find() - the job called @name; job_def_done() frees it.
 * Return: 0; ERR_NOENT when no section makes it.
 */
int job_def_find(const struct config *c, const char *name, struct job_def *ret, struct err *e);
void job_def_done(struct job_def *d);
