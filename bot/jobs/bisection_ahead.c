/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * While a machine measures one commit, the builders make the one that is measured next: whether the
 * answer will be good or bad, the search is asked where it would go then.
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"

#include <string.h>

/* Mean of all runs of one commit; false when there are none. */
static bool level_of(const struct bisect_state *s, int commit, double *ret)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		if (s->runs[i].commit == commit) {
			sum += s->runs[i].y;
			n++;
		}
	}
	*ret = n ? sum / (double)n : 0;
	return n > 0;
}

/* Where the search would go if the runs that @step asks for gave @y. */
static int next_after(struct bisection_run *b, const struct bisect_step *step, double y,
		      int *ret_commit, struct err *e)
{
	_cleanup_(freep) char *saved = bisect_save(&b->state);
	struct bisect_state s;
	struct bisect_step next = { 0 };
	int boots = step->boots > 0 ? step->boots : 1;
	int runs = step->runs > 0 ? step->runs : 1;
	int r;

	*ret_commit = BISECT_GOOD_END;
	r = bisect_load(&s, &b->range.graph, saved, e);
	if (r < 0)
		return r;
	for (int i = 0; r == 0 && i < boots * runs; i++)
		r = bisect_add_run(&s, step->commit, (int)b->n_boots + i / runs, y, e);
	if (r == 0)
		r = bisect_next(&s, &next, e);
	if (r == 0 && next.action == BISECT_MEASURE && next.build)
		*ret_commit = next.commit;
	bisect_step_done(&next);
	bisect_done(&s);
	return r;
}

int bisection_run_build_ahead(struct bisection_run *b, const struct bisect_step *step,
			      struct err *e)
{
	double level[2]; /* when it is good, when it is bad */
	int r = 0;

	if (!b->job.kconfig[0] || step->action != BISECT_MEASURE ||
	    step->phase != BISECT_PHASE_SEARCH ||
	    !config_bool(b->c->config, "bisect", NULL, "build-ahead") ||
	    !level_of(&b->state, BISECT_GOOD_END, &level[0]) ||
	    !level_of(&b->state, (int)b->range.graph.n - 1, &level[1]))
		return 0;
	for (int i = 0; r == 0 && i < 2; i++) {
		const char *hash;
		int commit;

		r = next_after(b, step, level[i], &commit, e);
		if (r < 0 || commit == BISECT_GOOD_END || commit == step->commit)
			continue;
		hash = bisection_run_hash(b, commit);
		log_debug("built ahead", lf_str("BISECT_ID", b->row.id), lf_str("COMMIT", hash));
		r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
		if (r == 0)
			r = need_build_ahead(b->c, &b->job, hash, e);
	}
	return r;
}
