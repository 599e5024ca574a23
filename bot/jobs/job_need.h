/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What planner, detection and bisection need before they can measure a commit: its build. */
#pragma once

#include <stdint.h>

struct err;
struct job;
struct job_ctx;

enum need_state {
	NEED_READY,  /* can be booted now */
	NEED_WAIT,   /* being built; we are woken when it ends */
	NEED_FAILED, /* cannot be built */
};

/**
 * need_build() - the build of @commit for @job; asked for when there is none.
 * @prio: of the work, the larger the sooner; who asks for the same with less does not hold it back.
 * @ret_build: its row, 0 on machines that boot nothing (always NEED_READY).
 */
int need_build(struct job_ctx *c, const struct job *job, const char *commit, int prio,
	       int64_t *ret_build, enum need_state *ret, struct err *e);

/** need_build_variant() - the same for a variant of the build, see struct build_request; "": none. */
int need_build_variant(struct job_ctx *c, const struct job *job, const char *commit,
		       const char *variant, int64_t *ret_build, enum need_state *ret,
		       struct err *e);

/** need_build_ahead() - ask for a build that may be needed soon: after all others. */
int need_build_ahead(struct job_ctx *c, const struct job *job, const char *commit, struct err *e);
