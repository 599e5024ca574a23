/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/culprit_same.h"

#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/comparison.h"
#include "bot/watch/range.h"
#include "bot/watch/twin.h"

#include <git2.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);

/* The first twin that has a regression which counts; a twin that cannot be read is none. */
static int same_as_twin(struct job_ctx *c, const struct regression *reg, const char *culprit,
			char (*twins)[41], size_t n, char ret[9], struct err *e)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(freep) char *dir = job_mirror_dir(c);
	struct err why = { 0 };
	int r = range_open(dir, &repo, &why);

	for (size_t i = 0; r >= 0 && i < n && !ret[0]; i++) {
		int rc = 0;

		r = twin_is(repo, culprit, twins[i], &why);
		if (r == 1)
			rc = regression_same(c->db, reg, twins[i], ret, e);
		if (rc < 0)
			return rc;
	}
	if (r < 0)
		log_warn("cannot tell whether a culprit was found under another hash, going on",
			 lf_str("REGRESSION_ID", reg->id), lf_str("COMMIT", culprit), lf_err(why));
	return 0;
}

int culprit_same(struct job_ctx *c, const struct regression *reg, const char *culprit, char ret[9],
		 struct err *e)
{
	_cleanup_(freep) char(*twins)[41] = NULL;
	size_t n = 0;
	int r = regression_same(c->db, reg, culprit, ret, e);

	if (r == 0 && !ret[0])
		r = regression_twins(c->db, culprit, &twins, &n, e);
	if (r == 0 && n)
		r = same_as_twin(c, reg, culprit, twins, n, ret, e);
	return r;
}
