/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/power.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/detect/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

enum {
	STEPS = 800,	 /* of Simpson's rule; even */
	BISECTIONS = 100 /* halvings: to the last bit of a double */
};

/* No estimate of noise, so no test: any noise hides the change. */
#define NEVER ((double)INFINITY)

const char *power_value_name(enum power_value v)
{
	static const char *const names[POWER_VALUES] = { "noise",  "boot-noise", "runs", "boots",
							 "effect", "level",	 "power" };

	return names[v];
}

struct power_design power_design_default(void)
{
	return (struct power_design){ .level = .99, .power = .8 };
}

int power_units(const struct power_design *d)
{
	return d->boots >= 2 ? d->boots : d->runs;
}

/* Mean over the boots of 1 / runs of that boot. */
static double mean_inverse(int runs, int boots)
{
	int each = runs / boots, more = runs % boots;

	return ((double)(boots - more) / each + (double)more / (each + 1)) / boots;
}

double power_unit_sd(const struct power_design *d)
{
	double share = d->boots >= 2 ? mean_inverse(d->runs, d->boots) : 1;

	return sqrt(d->boot_noise * d->boot_noise + d->noise * d->noise * share);
}

static double delta_of(const struct power_design *d, double unit_sd)
{
	double effect = fabs(log1p(d->effect));

	return unit_sd > 0 ? effect / (unit_sd * sqrt(2. / power_units(d))) : NEVER;
}

double power_reached(const struct power_design *d)
{
	double delta = delta_of(d, power_unit_sd(d));

	return isinf(delta) ? 1 : power_ttest(delta, 2. * power_units(d) - 2, 1 - d->level);
}

double power_ttest(double delta, double df, double alpha)
{
	double limit = stats_t_upper(alpha / 2, df), lo, hi, sum = 0, all = 0, mode;

	if (!isfinite(limit))
		return 0;
	delta = fabs(delta);
	if (df > 1e7)
		return gsl_cdf_ugaussian_Q(limit - delta) + gsl_cdf_ugaussian_Q(limit + delta);
	/*
	 * w = s / sigma has density ~ w^(df - 1) exp(-df w^2 / 2) and standard deviation
	 * sqrt(1 / (2 df)). Divided by its own sum, so no gamma function of a large argument.
	 */
	lo = fmax(0, 1 - 9 / sqrt(df));
	hi = 1 + 9 / sqrt(df);
	mode = (df - 1) * log(sqrt(fmax(.01, (df - 1) / df))) - (df - 1) / 2;
	for (int i = 0; i <= STEPS; i++) {
		double w = lo + (hi - lo) * i / STEPS;
		double weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
		double g = w > 0 ? weight * exp((df - 1) * log(w) - df * w * w / 2 - mode) : 0;

		all += g;
		sum += g * (gsl_cdf_ugaussian_Q(limit * w - delta) +
			    gsl_cdf_ugaussian_Q(limit * w + delta));
	}
	return fmin(1, sum / all);
}

double power_delta(double df, double alpha, double power)
{
	double lo = 0, hi = 1;

	if (!isfinite(stats_t_upper(alpha / 2, df)))
		return NEVER;
	while (power_ttest(hi, df, alpha) < power && hi < 1e12)
		hi *= 2;
	for (int i = 0; i < BISECTIONS; i++) {
		double mid = (lo + hi) / 2;

		if (power_ttest(mid, df, alpha) < power)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

void power_plan(double unit_sd, double prior_df, const int *looks, size_t n, double level,
		double power, double *ret)
{
	for (size_t i = 0; i < n; i++) {
		double df = prior_df + 2. * looks[i] - 2;
		double t = stats_t_upper((1 - level) / 2, df) + stats_t_upper(1 - power, df);

		ret[i] = unit_sd > 0 ? expm1(t * unit_sd * sqrt(2. / looks[i])) : 0;
	}
}

static int check_number(double v, double lo, double hi, bool closed, enum power_value what,
			struct err *e)
{
	if (closed ? v >= lo && v <= hi : v > lo && v < hi)
		return 0;
	return err_set(e, ERR_RANGE,
		       closed ? "%s %g is not between %g and %g"
			      : "%s %g must be more than %g and less than %g",
		       power_value_name(what), v, lo, hi);
}

static int check_counts(const struct power_design *d, enum power_value missing, struct err *e)
{
	if (missing != POWER_RUNS && (d->runs < 2 || d->runs > POWER_RUNS_MAX))
		return err_set(e, ERR_RANGE, "runs %d is not between 2 and %d", d->runs,
			       POWER_RUNS_MAX);
	if (missing == POWER_BOOTS)
		return 0;
	if (d->boots < 0 || d->boots > POWER_RUNS_MAX)
		return err_set(e, ERR_RANGE, "boots %d is not between 1 and %d", d->boots,
			       POWER_RUNS_MAX);
	if (missing != POWER_RUNS && d->boots > d->runs)
		return err_set(e, ERR_INVAL, "boots %d is more than runs %d: each boot has a run",
			       d->boots, d->runs);
	if (d->boots == 1 && (missing == POWER_BOOT_NOISE || d->boot_noise > 0))
		return err_set(e, ERR_INVAL,
			       "boots 1 cannot tell a change from a boot that is "
			       "different; want 2 or more");
	return 0;
}

int power_design_check(const struct power_design *d, enum power_value missing, struct err *e)
{
	int r = 0;

	if (missing != POWER_NOISE)
		r = check_number(d->noise, 0, 10, true, POWER_NOISE, e);
	if (!r && missing != POWER_BOOT_NOISE)
		r = check_number(d->boot_noise, 0, 10, true, POWER_BOOT_NOISE, e);
	if (!r && missing != POWER_EFFECT)
		r = check_number(d->effect, -1, 1000, false, POWER_EFFECT, e);
	if (!r && missing != POWER_LEVEL)
		r = check_number(d->level, .5, 1, false, POWER_LEVEL, e);
	if (!r && missing != POWER_POWER)
		r = check_number(d->power, 0, 1, false, POWER_POWER, e);
	if (!r)
		r = check_counts(d, missing, e);
	if (r)
		return r;
	if (missing != POWER_EFFECT && fabs(log1p(d->effect)) < 1e-9)
		return err_set(e, ERR_RANGE, "effect %g is too close to 0 to be seen", d->effect);
	if (missing != POWER_LEVEL && missing != POWER_POWER && d->power <= 1 - d->level)
		return err_set(e, ERR_INVAL,
			       "power %g is no more than the %g of level %g: chance alone",
			       d->power, 1 - d->level, d->level);
	if (missing != POWER_NOISE && missing != POWER_BOOT_NOISE &&
	    !(d->noise + d->boot_noise > 0))
		return err_set(e, ERR_INVAL, "noise 0 needs no runs: every change is seen");
	return 0;
}

/* Smallest count in [@lo, @hi] that is enough, *@n one of the counts of @d; power grows with it. */
static bool solve_count(const struct power_design *d, int *n, int lo, int hi)
{
	*n = hi;
	if (power_reached(d) < d->power)
		return false;
	while (lo < hi) {
		*n = lo + (hi - lo) / 2;
		if (power_reached(d) < d->power)
			lo = *n + 1;
		else
			hi = *n;
	}
	*n = lo;
	return true;
}

static int solve_size(struct power_design *d, enum power_value missing, struct err *e)
{
	int hi = missing == POWER_RUNS ? POWER_RUNS_MAX : d->runs;
	int *n = missing == POWER_RUNS ? &d->runs : &d->boots;

	if (solve_count(d, n, missing == POWER_RUNS && d->boots > 2 ? d->boots : 2, hi))
		return 0;
	return err_set(e, ERR_TOO_FEW, "even %d %s see %.3g %% with probability %.3g %% only", hi,
		       power_value_name(missing), 100 * d->effect, 100 * power_reached(d));
}

/* The sd of a unit that is little enough leaves the rest for the other noise. */
static int solve_noise(struct power_design *d, enum power_value missing, struct err *e)
{
	int n = power_units(d);
	double delta = power_delta(2. * n - 2, 1 - d->level, d->power);
	double unit = fabs(log1p(d->effect)) / (delta * sqrt(2. / n));
	double share = d->boots >= 2 ? mean_inverse(d->runs, d->boots) : 1;
	double other = missing == POWER_NOISE ? d->boot_noise : d->noise * sqrt(share);
	double left = (unit - other) * (unit + other);

	if (left < 0)
		return err_set(e, ERR_TOO_FEW,
			       "%s alone makes units differ by %.3g, and %.3g is the "
			       "most that shows %g",
			       missing == POWER_NOISE ? "boot-noise" : "noise", other, unit,
			       d->effect);
	if (missing == POWER_NOISE)
		d->noise = sqrt(left / share);
	else
		d->boot_noise = sqrt(left);
	return 0;
}

static int solve_level(struct power_design *d, struct err *e)
{
	double delta = delta_of(d, power_unit_sd(d)), df = 2. * power_units(d) - 2;
	double lo = log(1e-15), hi = log(.5);

	if (power_ttest(delta, df, exp(hi)) < d->power)
		return err_set(e, ERR_TOO_FEW, "no level above 0.5 sees %g with probability %g",
			       d->effect, d->power);
	for (int i = 0; i < BISECTIONS; i++) {
		double mid = (lo + hi) / 2;

		if (power_ttest(delta, df, exp(mid)) < d->power)
			lo = mid;
		else
			hi = mid;
	}
	d->level = 1 - exp(hi);
	return 0;
}

int power_solve(struct power_design *d, enum power_value missing, struct err *e)
{
	struct power_design s = *d;
	int r = power_design_check(d, missing, e), n;

	if (r < 0)
		return r;
	switch (missing) {
	case POWER_NOISE:
	case POWER_BOOT_NOISE:
		r = solve_noise(&s, missing, e);
		break;
	case POWER_RUNS:
	case POWER_BOOTS:
		r = solve_size(&s, missing, e);
		break;
	case POWER_EFFECT:
		n = power_units(&s);
		s.effect = expm1(power_delta(2. * n - 2, 1 - s.level, s.power) * power_unit_sd(&s) *
				 sqrt(2. / n));
		break;
	case POWER_LEVEL:
		r = solve_level(&s, e);
		break;
	default:
		s.power = power_reached(&s);
		break;
	}
	if (!r)
		*d = s;
	return r;
}
