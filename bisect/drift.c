/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has the machine moved while it was measured? Boots of each end are compared among themselves:
 * y = level(end) + slope * place in time. Commits in between are measured again mostly because
 * their first value was odd, so their second one is bound to differ.
 */
#include "bisect/bisect.h"
#include "bisect/eval.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>

/* A boot: when, of its first run, and the mean of its runs. */
struct boot_mean {
	int commit;
	int boot;
	double time;
	double sum;
	double n;
};

static size_t collect_boots(const struct bisect_state *s, struct boot_mean *boots)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		const struct bisect_run *run = &s->runs[i];
		size_t at = 0;

		if (run->commit != BISECT_GOOD_END && run->commit + 1 != (int)s->graph->n)
			continue;
		while (at < n && (boots[at].commit != run->commit || boots[at].boot != run->boot))
			at++;
		if (at == n)
			boots[n++] = (struct boot_mean){ .commit = run->commit,
							 .boot = run->boot,
							 .time = (double)i };
		boots[at].sum += run->y;
		boots[at].n++;
	}
	return n;
}

struct slope {
	double xx;
	double xy;
};

/* Sums around the mean of each end. */
static struct slope sum_end(const struct boot_mean *boots, size_t n, int commit)
{
	struct slope ret = { 0 };
	double time = 0;
	double y = 0;
	double m = 0;

	for (size_t i = 0; i < n; i++)
		if (boots[i].commit == commit) {
			time += boots[i].time;
			y += boots[i].sum / boots[i].n;
			m++;
		}
	for (size_t i = 0; i < n; i++)
		if (boots[i].commit == commit) {
			double dt = boots[i].time - time / m;

			ret.xx += dt * dt;
			ret.xy += dt * (boots[i].sum / boots[i].n - y / m);
		}
	return ret;
}

bool bisect_drift(const struct bisect_state *s, double *ret_shift, double *ret_sd)
{
	const struct bisect_params *p = &s->params;
	_cleanup_(freep) struct boot_mean *boots = xcalloc(s->n_runs + 1, sizeof(*boots));
	size_t n = collect_boots(s, boots);
	double span = (double)s->n_runs - 1;
	struct slope good = sum_end(boots, n, BISECT_GOOD_END);
	struct slope bad = sum_end(boots, n, (int)s->graph->n - 1);
	double per_boot = 0;

	*ret_shift = 0;
	*ret_sd = INFINITY;
	if (good.xx + bad.xx <= 0)
		return false;
	for (size_t i = 0; i < n; i++)
		per_boot += boots[i].n / (double)n;
	*ret_shift = (good.xy + bad.xy) / (good.xx + bad.xx) * span;
	*ret_sd = sqrt((p->boot_sd * p->boot_sd + p->sigma * p->sigma / per_boot) /
		       (good.xx + bad.xx)) *
		  span;
	return fabs(*ret_shift) > bisect_params_size(p) / 2 && fabs(*ret_shift) > 3 * *ret_sd;
}

bool bisect_drift_is_checked(const struct bisect_state *s, int commit)
{
	for (size_t i = s->n_runs; i-- > 0 && i >= s->n_runs / 2;)
		if (s->runs[i].commit == commit)
			return true;
	return s->n_runs == 0;
}
