/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A culprit whose parent, older than the good end, is as bad as itself: its branch lacks what makes
 * the good end better, so no commit of it is the first bad one by itself. Those commits are left out
 * of the search, which goes on; if the step is not elsewhere, it came in where they were merged.
 *
 * Kept with the status under "checks", as "older" [{parent, measured, commit, merge, rel, lo, hi,
 * level}]: the parent, what was measured for it, its child, the merge that has both that and the good
 * end, and the parent's change against the good end.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

struct detect_result;

/** bisection_older_skip() - skip what is known to be so; fills @older and @has_good of @b. */
int bisection_older_skip(struct bisection_run *b, struct err *e);

/** bisection_older_concerns() - is @commit left out, or a merge of what is? */
bool bisection_older_concerns(const struct bisection_run *b, int commit);

/**
 * bisection_older_parent() - what @effect, from parent @parent outside of the range to @step's commit,
 * makes of both.
 * Return: 1 the commit is worse than it; 2 neither that nor the parent's fault can be said; 0 the
 * good end is measured beside it first, or the search goes on without that branch, or has ended; an
 * error.
 */
int bisection_older_parent(struct bisection_run *b, const struct bisect_step *step,
			   const char *parent, const struct detect_result *effect, struct err *e);

/** bisection_older_answer() - it ends with the merge that brought the step, and nobody is blamed. */
int bisection_older_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e);

/**
 * bisection_older_unverified() - it ends with a likely commit, whose parent @lost, an object of
 * bot/jobs/bisection_outside.h, cannot be measured.
 */
int bisection_older_unverified(struct bisection_run *b, const struct bisect_step *step,
			       const json_t *lost, struct err *e);

/** bisection_older_forget() - nothing that was measured counts. */
void bisection_older_forget(struct bisection_run *b);

/** bisection_older_result() - adds "older" to @result, and a sentence for each to its text. */
void bisection_older_result(const struct bisection_run *b, json_t *result);
