/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run as it is stored: its outputs as artefacts, and what they mean. */
#pragma once

#include "bot/jobs/job_ctx.h"
#include "bot/store/boot.h"
#include "bot/store/job.h"
#include "runners/drivers/driver.h"
#include "runners/suites/suite.h"

/** struct boot_run - row, metrics, and what the row borrows; boot_run_done() frees it. */
struct boot_run {
	struct run_row row;
	struct suite_output out;
	char raw[65];
	char *detail, *about;
	struct run_file *files;
};
void boot_run_done(struct boot_run *r);

/**
 * boot_run_read() - store the outputs of run @i of @lab and read them.
 * A run without the job's metric is of class "parse"; one with a profile on counts for no metric.
 */
int boot_run_read(struct job_ctx *c, const struct job *job, const struct lab_result *lab, size_t i,
		  struct boot_run *ret, struct err *e);

/** boot_suite_version() - "bundled:VERSION", or "upstream:" and a hash of what ran; free() it. */
char *boot_suite_version(const struct job *job, const struct lab_result *lab);
