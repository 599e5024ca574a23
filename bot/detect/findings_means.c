/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of which only means are left. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/detect/findings_internal.h"
#include "bot/detect/stats.h"
#include "bot/detect/units.h"

#include <math.h>

enum {
	MIN_RUNS = 3
};
/* Standard errors between the means: five runs a side reach this by chance once in 10^4. */
static const double min_errors = 8, min_sd_ratio = 1e-4;

static double variance_of_mean(const struct findings_side *s, double floor)
{
	double sd = fmax(s->sd, floor);

	return sd * sd / s->n;
}

void findings_from_means(struct findings_metric *m, const struct findings_side *base,
			 const struct findings_side *head)
{
	double floor = min_sd_ratio * fmax(fabs(base->mean), fabs(head->mean));
	double a, b, se, df, half;

	m->rel = m->lo = m->hi = m->t = m->p = NO_VALUE;
	m->per_rel = m->per_lo = m->per_hi = NO_VALUE;
	m->moved = false;
	m->group = 0;
	m->abs = head->mean - base->mean;
	if (base->mean != 0)
		m->rel = m->abs / fabs(base->mean);
	if (base->n < MIN_RUNS || head->n < MIN_RUNS || !isfinite(m->abs))
		return;
	a = variance_of_mean(base, floor);
	b = variance_of_mean(head, floor);
	se = sqrt(a + b);
	if (!(se > 0)) {
		m->p = m->abs == 0 ? 1 : 0;
		return;
	}
	df = (a + b) * (a + b) / (a * a / (base->n - 1) + b * b / (head->n - 1));
	m->t = m->abs / se;
	m->p = stats_t_two_sided(m->t, df);
	half = se * stats_t_upper(.025, df);
	m->lo = (m->abs - half) / fabs(base->mean);
	m->hi = (m->abs + half) / fabs(base->mean);
}

void findings_mark_moved(struct findings_metric *m, size_t n, double q, double min_effect)
{
	_cleanup_(freep) double *p = xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = m[i].lead ? NO_VALUE : m[i].p;
	stats_bh(p, n, p);
	for (size_t i = 0; i < n; i++) {
		if (m[i].lead)
			continue;
		m[i].moved =
			p[i] <= q && !(fabs(m[i].t) < min_errors) && !(fabs(m[i].rel) < min_effect);
		m[i].verdict = m[i].moved ? DETECT_CHANGE : DETECT_INCONCLUSIVE;
	}
}
