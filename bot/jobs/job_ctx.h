/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a handler gets. A piece of work is done by a process of its own (kperfbotd --worker), so a
 * handler is plain sequential code: what blocks is a child under a deadline, a crash costs one
 * lease, and nothing has to be cleaned up by hand. Each handler ends its work (work_finish or
 * work_reschedule) in the same transaction that stores the result.
 */
#pragma once

#include "bot/base/json.h"
#include "bot/store/work.h"

struct config;
struct db;
struct err;

/**
 * struct job_ctx - the work at hand; all borrowed.
 * @machine: name of the machine that is held, for kind boot; else NULL.
 * @programs: folder of kperfbot-agent and kperfbot-workloads.
 */
struct job_ctx {
	const struct config *config;
	const char *state_dir;
	const char *programs;
	const char *machine;
	struct db *db;
	struct work *work;
	const json_t *payload;
};

/*
 * Handlers, one file each. Return: 0, the work has ended or was rescheduled; an error otherwise,
 * and the caller notes it: transient ones are tried again with back-off.
 */
int job_fetch(struct job_ctx *c, struct err *e);
int job_fixes(struct job_ctx *c, struct err *e);
int job_plan(struct job_ctx *c, struct err *e);
int job_build(struct job_ctx *c, struct err *e);
int job_boot(struct job_ctx *c, struct err *e);
int job_detect(struct job_ctx *c, struct err *e);
int job_bisect(struct job_ctx *c, struct err *e);
int job_report(struct job_ctx *c, struct err *e);
int job_send(struct job_ctx *c, struct err *e);

/** job_finish() - work_finish() for the work at hand. */
int job_finish(struct job_ctx *c, struct err *e);

/** job_mirror_dir() - path of the bare repository; free() it. */
char *job_mirror_dir(const struct job_ctx *c);

/**
 * job_kconfig_hash() - hash of the recipe of [kconfig "@name"]; "" for name "".
 * Return: 0; ERR_CONFIG when there is no such section or a file of it cannot be read.
 */
int job_kconfig_hash(const struct job_ctx *c, const char *name, char ret[65], struct err *e);

/** job_arch() - architecture of [kconfig "@name"] as the kernel names its folder; free() it. */
char *job_arch(const struct job_ctx *c, const char *name);
