/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each commit of the range changes, before anything is measured of it. */
#include "bisect/prior.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/watch/range.h"
#include "bot/watch/touched.h"

#include <git2.h>
#include <string.h>

/* Whether code changes at all is looked at in ranges of up to so many commits. */
#define CONTENT_COMMITS 1000
#define PATHS_MOST	200

DEFINE_CLEANUP(git_repository *, git_repository_free);

static int weigh(git_repository *repo, const struct prior_context *c, const char *hash,
		 bool content, double *ret, enum prior_kind *ret_kind, struct err *e)
{
	struct touched t = { 0 };
	struct prior_commit commit;
	int r = touched_read(repo, hash, PATHS_MOST, content, &t, e);

	if (r < 0)
		return r;
	commit = (struct prior_commit){ .paths = (const char *const *)t.paths,
					.same_code = t.same_code,
					.n_paths = t.n,
					.more = t.more,
					.merge = t.n_parents > 1 };
	*ret = prior_weight(c, &commit, ret_kind);
	touched_done(&t);
	return 0;
}

int bisection_run_priors(struct bisection_run *b, struct err *e)
{
	struct prior_context c = { .arch = "x86", .suite = b->job.suite, .test = b->job.test };
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(freep) char *dir = job_mirror_dir(b->c);
	size_t n = b->range.graph.n;
	int r = range_open(dir, &repo, e);

	if (r == 0)
		b->kinds = xcalloc(n, sizeof(*b->kinds));
	for (size_t i = 0; r == 0 && i < n; i++) {
		enum prior_kind kind;
		double weight;

		r = weigh(repo, &c, b->range.graph.commits[i].hash, n <= CONTENT_COMMITS, &weight,
			  &kind, e);
		if (r == 0)
			r = bisect_set_prior(&b->state, (int)i, weight, e);
		b->kinds[i] = (unsigned char)kind;
	}
	return r;
}
