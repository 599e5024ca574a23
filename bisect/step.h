/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the phases of a bisection share. Inside of the library. */
#pragma once

#include "bisect/bisect.h"

struct bisect_eval;
struct bisect_two;

/** BISECT_ODD_SDS - a measured commit that lies further from its level looks odd. */
#define BISECT_ODD_SDS 1.5

/** bisect_step_measure() - one boot of @commit with @runs runs, fewer where the budget ends. */
void bisect_step_measure(const struct bisect_state *s, struct bisect_step *step,
			 enum bisect_phase phase, int commit, int runs);

/** bisect_step_measure_or_wait() - the usual number of runs, or BISECT_WAIT. */
void bisect_step_measure_or_wait(const struct bisect_state *s, struct bisect_step *step,
				 enum bisect_phase phase, int commit, bool wait);

/** bisect_step_pending() - boots of @commit that are under way. */
int bisect_step_pending(const struct bisect_state *s, int commit);

/** bisect_step_ends_known() - two boots of each end? */
bool bisect_step_ends_known(const struct bisect_state *s);

/** bisect_step_ends() - Return: true if @step says what to do about the ends. */
bool bisect_step_ends(struct bisect_state *s, struct bisect_step *step);

/**
 * bisect_step_middle() - the ends may be equal because what came went again: one look at the middle
 * of the range before NONE is said. Return: true if @step asks for it.
 */
bool bisect_step_middle(struct bisect_state *s, const struct bisect_eval *v,
			const struct bisect_two *two, struct bisect_step *step);

/** bisect_step_drift() - the ends as they are now, before a commit is named. */
void bisect_step_drift(struct bisect_state *s, struct bisect_step *step);
