/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a bisection ends, and what is measured again before it does. */
#pragma once

#include "bot/jobs/bisection_run.h"

/**
 * bisection_answer() - @step is an answer (done, none, set, ends-broken): order what is still to be
 * measured to be sure of it, or store it and draw the consequences for the regression.
 *
 * The result's keys beside text, as far as they are known: culprit, parent, p, effect {rel, lo, hi,
 * level}, suspicious; parents [{commit, rel, lo, hi}] and interaction of a merge; second {commit, p,
 * rel} where two commits brought a step each; set [{commit, p, skip}] and set_p where no single one
 * can be named (skip: why it could not be measured); reverted {commit, p, rel, by, by_p} for a step
 * that was taken back inside of the range; ends {rel, lo, hi, level, mde, min_effect, ruled_out} where the
 * ends do not differ; mde is the change that would have been seen four times in five, ruled_out
 * whether one of min_effect is.
 *
 * revert {applies, end, on, commit, why}: end is as revert_end_name(), or failed; once it was
 * measured also step (undone, stays, unclear), against_bad {commit, rel, lo, hi, level} and the same
 * numbers against the parent; conflicts [path] and n_conflicts. tip {commit, branch, why}: once it
 * was measured also step (present, gone, unclear) and rel, lo, hi, level against the parent;
 * contains_bad is false where the branch was rewritten. why: it was not measured for this reason.
 *
 * outside [{commit, measured, older, before, why}] of a commit with parents that are not in the range,
 * see bot/jobs/bisection_outside.h; the parent told is what was measured for it. older [{parent,
 * measured, commit, merge, rel, lo, hi, level}]: branches left out since they began as bad, see
 * bot/jobs/bisection_older.h.
 *
 * fork {stage, from, bases [{commit, like, rel}]} where the good end is not an ancestor of the bad
 * one, and gain, see bot/jobs/bisection_gain.h, if there is no culprit but something that the bad end
 * lacks.
 */
int bisection_answer(struct bisection_run *b, const struct bisect_step *step, struct err *e);

/**
 * BISECTION_VERIFY_BOOTS - fresh boots of each side before a commit is named, or the ends are said to
 * be equal: as many as detect_compare() wants of a metric without history before it gives an
 * interval.
 */
#define BISECTION_VERIFY_BOOTS 5

/**
 * bisection_answer_end() - it ends in @state with @result and the sentence @text. No commit is
 * blamed: a regression stays, with the reason in its history, and no mail goes out.
 */
int bisection_answer_end(struct bisection_run *b, const char *state, json_t *result,
			 const char *text, struct err *e);

/** bisection_answer_failed() - it ends in @state for the reason @text. */
int bisection_answer_failed(struct bisection_run *b, const char *state, const char *text,
			    struct err *e);
