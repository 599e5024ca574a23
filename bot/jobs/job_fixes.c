/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look for commits of a branch that claim to fix the culprits of its open regressions. */
#include "bot/jobs/fix_claims.h"
#include "bot/jobs/job_ctx.h"

int job_fixes(struct job_ctx *c, struct err *e)
{
	return fix_claims_look(c, json_str(c->payload, "tree", ""),
			       json_str(c->payload, "branch", ""), NULL, true, e);
}
