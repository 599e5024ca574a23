/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a commit changes, against what was measured of it. See also bisection_run_priors(). */
#pragma once

#include "bot/base/json.h"

struct bisection_run;
struct err;

/**
 * bisection_suspicions() - what makes a culprit look odd: "suspicious" of the result.
 * @hash: full hash of the culprit. @parent: of its first parent.
 * @ret: array of names (prior_suspicion_name()), empty when nothing is odd; a new reference.
 */
int bisection_suspicions(const struct bisection_run *b, const char *hash, const char *parent,
			 json_t **ret, struct err *e);
