/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer of a bisection in stage GOOD_SIDE: a commit that the good end has and the bad end lacks.
 * It made things better, so no regression names it as its culprit and no mail goes to its author.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

/**
 * bisection_gain_answer() - @step is done or set: verify it, and end.
 *
 * The result has "gain" {commit, parent, p, confirmed, effect, merged [commit]}, or {set [{commit,
 * p}], set_p}, and never "culprit".
 */
int bisection_gain_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e);
