/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a driver needs to know, from the configuration and a job's row. */
#pragma once

#include "bot/jobs/job_ctx.h"
#include "bot/store/job.h"
#include "runners/drivers/driver.h"

/**
 * struct boot_request - machine and request for lab_boot(); boot_request_done() frees it.
 * The caller fills in kernel, build id, runs, nonce and scratch folder.
 */
struct boot_request {
	struct lab_machine machine;
	struct lab_request request;
	struct suite_param *params;
	size_t nparams;
	struct suite_param *settings;
	const char **monitors;
	char *agent, *workloads;
	struct lab_netboot_store *netboot;
};

/** boot_request_make() - for the machine that @c holds; @job must outlive the request. */
int boot_request_make(struct job_ctx *c, const struct job *job, struct boot_request *ret,
		      struct err *e);
void boot_request_done(struct boot_request *q);

/** boot_suite_path() - folder of the upstream suite on machines of @group; NULL: bundled. */
const char *boot_suite_path(const struct config *c, const char *suite, const char *group);
