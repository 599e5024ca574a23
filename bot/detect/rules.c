/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/rules.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/detect/stats.h"

#include <math.h>
#include <string.h>

static const int default_looks[] = { 3, 5, 8, 12, 20 };
/* alpha / cut at alpha 1e-4 for the looks above: conservative for every larger alpha. */
static const double default_factors[] = { 1.92, 1.92, 1.92, 4.11, 3.01 };

struct detect_options detect_options_default(void)
{
	return (struct detect_options){
		.level = .95,
		.alpha = .01,
		.min_effect = .01,
		.monitor_min_effect = .03,
		.target_effect = .038,
		.fdr_q = .05,
		.monitor_fdr_q = .01,
		.looks = default_looks,
		.nlooks = ARRAY_SIZE(default_looks),
	};
}

static int check_range(double v, double lo, double hi, const char *what, struct err *e)
{
	if (!(v > lo && v < hi) && lo < 0)
		return err_set(e, ERR_RANGE, "%s %g must be 0 or more, and less than %g", what, v,
			       hi);
	if (!(v > lo && v < hi))
		return err_set(e, ERR_RANGE, "%s %g must be more than %g and less than %g", what, v,
			       lo, hi);
	return 0;
}

static int check_looks(const struct detect_options *o, struct err *e)
{
	if (!o->nlooks || o->nlooks > DETECT_LOOKS_MAX)
		return err_set(e, ERR_INVAL, "%zu looks; want 1 to %d of them", o->nlooks,
			       DETECT_LOOKS_MAX);
	for (size_t i = 0; i < o->nlooks; i++) {
		if (o->looks[i] < MIN_UNITS || o->looks[i] > DETECT_LOOK_LIMIT)
			return err_set(e, ERR_RANGE, "look %d is not between %d and %d",
				       o->looks[i], MIN_UNITS, DETECT_LOOK_LIMIT);
		if (i && o->looks[i] <= o->looks[i - 1])
			return err_set(e, ERR_INVAL, "look %d after %d; looks must ascend",
				       o->looks[i], o->looks[i - 1]);
	}
	if (!o->single_look && o->looks[o->nlooks - 1] < DETECT_VERDICT_LOOK)
		return err_set(e, ERR_INVAL,
			       "last look %d is below %d, the first that may give a verdict",
			       o->looks[o->nlooks - 1], DETECT_VERDICT_LOOK);
	return 0;
}

int detect_options_check(const struct detect_options *o, struct err *e)
{
	const struct {
		double v, lo, hi;
		const char *what;
	} checks[] = {
		{ o->level, .5, 1, "level" },
		{ o->alpha, 0, .5, "alpha" },
		{ o->min_effect, -1e-300, 1, "least effect" },
		{ o->monitor_min_effect, -1e-300, 1, "least effect of monitors" },
		{ o->target_effect, 0, 1, "target effect" },
		{ o->same_effect, -1e-300, 1, "same effect" },
		{ o->fdr_q, 0, 1, "false discovery rate" },
		{ o->monitor_fdr_q, 0, 1, "false discovery rate of monitors" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		int r = check_range(checks[i].v, checks[i].lo, checks[i].hi, checks[i].what, e);

		if (r < 0)
			return r;
	}
	return o->looks ? check_looks(o, e) : 0;
}

void detect_rules_init(struct rules *ru, const struct detect_options *o)
{
	double cuts[DETECT_LOOKS_MAX];
	size_t first = 0;

	*ru = (struct rules){ .o = o, .looks = o->looks, .nlooks = o->nlooks };
	ru->same = o->same_effect > 0 ? o->same_effect : .75 * o->target_effect;
	ru->alpha = o->single_look ? 1 - o->level : o->alpha;
	if (!o->looks) {
		ru->looks = default_looks;
		ru->nlooks = ARRAY_SIZE(default_looks);
	}
	for (size_t i = 0; i < ru->nlooks; i++)
		ru->factor[i] = 1;
	if (o->single_look)
		return;
	if (ru->nlooks == ARRAY_SIZE(default_looks) &&
	    !memcmp(ru->looks, default_looks, sizeof(default_looks))) {
		memcpy(ru->factor, default_factors, sizeof(default_factors));
		return;
	}
	while (ru->looks[first] < DETECT_VERDICT_LOOK)
		first++;
	stats_look_cuts(ru->looks + first, ru->nlooks - first, ru->looks[ru->nlooks - 1], 1e-4,
			cuts);
	for (size_t i = 0; i < ru->nlooks; i++)
		ru->factor[i] = fmax(1, 1e-4 / cuts[i < first ? 0 : i - first]);
}

int detect_rules_next_look(const struct rules *ru, bool have_profile, int units)
{
	int least = have_profile ? MIN_UNITS : MIN_UNITS_NO_HISTORY;

	for (size_t i = 0; i < ru->nlooks; i++) {
		if (ru->looks[i] > units && ru->looks[i] >= least)
			return ru->looks[i];
	}
	return 0;
}

int detect_next_look(const struct detect_options *o, bool have_profile, int units)
{
	struct rules ru = { .looks = default_looks, .nlooks = ARRAY_SIZE(default_looks) };

	if (o->looks) {
		ru.looks = o->looks;
		ru.nlooks = o->nlooks;
	}
	return detect_rules_next_look(&ru, have_profile, units);
}

int detect_boots_wanted(const struct detect_options *o, const struct detect_result *r, int have)
{
	if (r->more_units == 0 || r->more_units > have)
		return r->more_units;
	return detect_next_look(o, true, have);
}

int detect_rules_look_index(const struct rules *ru, size_t units)
{
	int k = -1;

	for (size_t i = 0; i < ru->nlooks && (size_t)ru->looks[i] <= units; i++)
		k = (int)i;
	return k;
}
