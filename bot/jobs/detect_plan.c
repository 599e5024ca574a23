/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/detect_plan.h"

#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/detect/power.h"
#include "bot/detect/rules.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/comparison.h"
#include "bot/store/series.h"

#include <math.h>

void detect_past_done(struct detect_past *p)
{
	series_history_free(p->history, p->nhistory);
	*p = (struct detect_past){ 0 };
}

int detect_past_load(struct job_ctx *c, const struct comparison *cmp, const char *metric,
		     struct detect_past *ret, struct err *e)
{
	const struct series_key key = { .tree = cmp->tree,
					.branch = cmp->branch,
					.job = cmp->job,
					.machine = cmp->machine[0] ? cmp->machine : NULL,
					.metric = metric };

	return series_history(c->db, &key, cmp->base, DETECT_HISTORY_MAX, &ret->history,
			      &ret->nhistory, e);
}

int detect_plan_make(const struct detect_past *past, const char *metric,
		     const struct detect_options *o, json_t **ret, int *ret_first, struct err *e)
{
	const struct judged_plan plan = { .options = o,
					  .history = past->history,
					  .nhistory = past->nhistory };
	struct detect_profile profile = { 0 };
	double detectable[DETECT_LOOKS_MAX];
	struct rules rules;
	json_t *looks = json_array();
	double sd;
	int r;

	detect_rules_init(&rules, o);
	r = judged_profile(&plan, metric, 0, &profile, e);
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
	if (profile.have && profile.ln_scale)
		json_set_f64(*ret, "boot_sd", expm1(sd));
	(void)json_object_set_new(*ret, "looks", looks);
	*ret_first = detect_next_look(o, profile.have, 0);
	return 0;
}
