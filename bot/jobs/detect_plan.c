/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/detect_plan.h"

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/detect/power.h"
#include "bot/detect/rules.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/comparison.h"
#include "bot/store/measured.h"
#include "bot/store/series.h"

#include <math.h>
#include <string.h>

void detect_past_done(struct detect_past *p)
{
	measured_free(p->history, p->nhistory);
	*p = (struct detect_past){ 0 };
}

/* Others' runs before our own. */
static int borrow(struct job_ctx *c, const struct series_key *key, const char *group,
		  struct detect_past *p, struct err *e)
{
	struct runs *others, *all;
	size_t n;
	int r;

	r = series_borrowed(c->db, key, group, DETECT_HISTORY_MAX - (int)p->nhistory, &others, &n,
			    e);
	if (r < 0)
		return r;
	all = xcalloc(n + p->nhistory + 1, sizeof(*all));
	memcpy(all, others, n * sizeof(*all));
	memcpy(all + n, p->history, p->nhistory * sizeof(*all));
	free(others);
	free(p->history);
	*p = (struct detect_past){ all, n + p->nhistory, n };
	return 0;
}

int detect_past_load(struct job_ctx *c, const struct comparison *cmp, const char *group,
		     const char *metric, struct detect_past *ret, struct err *e)
{
	const struct series_key key = { .tree = cmp->tree,
					.branch = cmp->branch,
					.job = cmp->job,
					.machine = cmp->machine[0] ? cmp->machine : NULL,
					.metric = metric };

	int r = series_history(c->db, &key, cmp->base, DETECT_HISTORY_MAX, &ret->history,
			       &ret->nhistory, e);

	return r < 0 || ret->nhistory >= DETECT_HISTORY_MIN ? r : borrow(c, &key, group, ret, e);
}

int detect_plan_make(const struct detect_past *past, const char *metric, size_t per_boot,
		     const struct detect_options *o, json_t **ret, int *ret_first, struct err *e)
{
	const struct judged_plan plan = { .options = o,
					  .history = past->history,
					  .nhistory = past->nhistory,
					  .nborrowed = past->nborrowed };
	struct detect_profile profile = { 0 };
	double detectable[DETECT_LOOKS_MAX];
	struct rules rules;
	json_t *looks = json_array();
	double sd;
	int r;

	detect_rules_init(&rules, o);
	r = judged_profile(&plan, metric, 0, per_boot, &profile, e);
	if (r < 0) {
		json_decref(looks);
		return r;
	}
	sd = sqrt(profile.s0sq + profile.scsq);
	power_plan(sd, profile.d0, rules.looks, rules.nlooks, 1 - rules.alpha, .8, detectable);
	for (size_t i = 0; i < rules.nlooks; i++) {
		json_t *look = json_object();

		if (detect_next_look(o, profile.have, rules.looks[i] - 1) != rules.looks[i]) {
			json_decref(look);
			continue;
		}
		json_set_i64(look, "boots", rules.looks[i]);
		if (profile.have && profile.ln_scale)
			json_set_f64(look, "detectable", detectable[i]);
		(void)json_array_append_new(looks, look);
	}
	*ret = json_object();
	json_set_i64(*ret, "commits", profile.have ? profile.history : 0);
	if (profile.have && past->nborrowed)
		json_set_i64(*ret, "borrowed", (int64_t)past->nborrowed);
	if (profile.have && profile.ln_scale)
		json_set_f64(*ret, "boot_sd", expm1(sd));
	(void)json_object_set_new(*ret, "looks", looks);
	*ret_first = detect_next_look(o, profile.have, 0);
	return 0;
}
