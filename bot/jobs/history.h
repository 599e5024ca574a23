/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the history of a branch says: steps that no pair of neighbours shows, and the machine's drift. */
#pragma once

struct comparison;
struct err;
struct job;
struct job_ctx;

/**
 * history_update() - look at the series that @cmp has added to, and act on what is new there.
 * @cmp: has ended, purpose head or confirm, with a machine; others are left alone.
 *
 * A step for the worse that no comparison has found gets one of its own, interleaved: the last
 * commit of the old level against the first of the new one. A step that the control build shows
 * as well is the machine's drift. In a transaction.
 */
int history_update(struct job_ctx *c, const struct comparison *cmp, const struct job *job,
		   struct err *e);

/** history_confirmed() - @cmp, of purpose confirm, ended with @verdict, or NULL: it failed. */
int history_confirmed(struct job_ctx *c, const struct comparison *cmp, const char *verdict,
		      struct err *e);
