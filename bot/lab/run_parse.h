/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of a job from the outputs of one run, fresh from the machine or stored long ago. */
#pragma once

#include "bot/base/json.h"
#include "runners/suites/suite.h"

#include <stdbool.h>
#include <stddef.h>

struct err;
struct job;

/** struct run_text - an output; borrowed. @name: "monitor/vmstat", NULL for stdout and stderr. */
struct run_text {
	const char *name;
	const char *data;
	size_t len;
};

/**
 * struct run_texts - the outputs of a run, and what is known of it.
 * @files: only those of monitors are looked at.
 * @rusage: as in struct proto_run_end, or NULL.
 * @run_s: seconds that its commands took. @tasks, @cpus: 0: not known.
 */
struct run_texts {
	struct run_text raw, errors;
	const struct run_text *files;
	size_t nfiles;
	const json_t *rusage;
	double run_s;
	int tasks, cpus;
};

/**
 * run_parse() - metrics from a run.
 * @ret_profiled: a monitor was on that does not come with every run; its headlines are left out.
 * Return: 0; ERR_NOENT: the suite is gone; what suite_parse() gives.
 */
int run_parse(const struct job *job, const struct run_texts *t, struct suite_output *ret,
	      bool *ret_profiled, struct err *e);

/** params_of_json() - an object of strings as params; params_free() frees them. */
struct suite_param *params_of_json(const json_t *o, size_t *ret_n);
void params_free(struct suite_param *p, size_t n);
