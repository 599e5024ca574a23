/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/bisection_model.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A normal variable is within this many standard deviations of its mean half of the time. */
#define MEDIAN_SDS 0.6745
/* With fewer degrees of freedom a median deviation says less than the variance. */
#define ROBUST_MIN 10
/* A lab that repeats to the last digit is not believed to the last digit. */
#define SIGMA_LEAST 0.001
/* Without any history. */
#define SIGMA_GUESS 0.01

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/*
 * Deviations of the items of groups from the mean of their group, each scaled so that its variance
 * is that of an item.
 */
struct spread {
	double *dev;
	size_t n;
	double ss;
	int dof;
};

static void spread_add(struct spread *s, const double *items, size_t n)
{
	double mean = 0;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		mean += items[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		s->ss += (items[i] - mean) * (items[i] - mean);
		s->dev[s->n++] = fabs(items[i] - mean) * sqrt((double)n / (double)(n - 1));
	}
	s->dof += (int)n - 1;
}

/* Means of groups of items: boots of runs, commits of boots. */
struct mean {
	int machine, commit;
	double value;
	size_t n;
};

static size_t boot_means(const struct noise_value *v, const double *y, size_t n,
			 struct spread *runs, struct mean *ret)
{
	size_t n_boots = 0;

	for (size_t i = 0; i < n;) {
		size_t k = i;
		double sum = 0;

		for (; k < n && v[k].boot == v[i].boot; k++)
			sum += y[k];
		spread_add(runs, y + i, k - i);
		ret[n_boots++] =
			(struct mean){ v[i].machine, v[i].commit, sum / (double)(k - i), k - i };
		i = k;
	}
	return n_boots;
}

static size_t commit_means(const struct mean *boots, size_t n, struct spread *between,
			   struct mean *ret)
{
	_cleanup_(freep) double *items = xcalloc(n, sizeof(*items));
	size_t n_commits = 0;

	for (size_t i = 0; i < n;) {
		size_t k = i;
		double sum = 0;

		for (; k < n && boots[k].machine == boots[i].machine &&
		       boots[k].commit == boots[i].commit;
		     k++) {
			items[k - i] = boots[k].value;
			sum += boots[k].value;
		}
		spread_add(between, items, k - i);
		ret[n_commits++] = (struct mean){ boots[i].machine, boots[i].commit,
						  sum / (double)(k - i), k - i };
		i = k;
	}
	return n_commits;
}

/* Of the machine that has measured most commits: how far they lie from their median. */
static void commit_noise(const struct mean *commits, size_t n, double boot_var,
			 struct bisection_noise *ret)
{
	_cleanup_(freep) double *y = xcalloc(n, sizeof(*y));
	size_t first = 0, most = 0;
	double mid, boots = 0, var;

	for (size_t i = 0; i < n;) {
		size_t k = i;

		while (k < n && commits[k].machine == commits[i].machine)
			k++;
		if (k - i > most) {
			most = k - i;
			first = i;
		}
		i = k;
	}
	if (most < ROBUST_MIN)
		return;
	for (size_t i = 0; i < most; i++) {
		y[i] = commits[first + i].value;
		boots += 1.0 / (double)commits[first + i].n / (double)most;
	}
	mid = median(y, most);
	for (size_t i = 0; i < most; i++)
		y[i] = fabs(y[i] - mid);
	var = median(y, most) / MEDIAN_SDS;
	var = var * var - boot_var * boots;
	ret->commit = var > 0 ? sqrt(var) : 0;
	ret->commits = (int)most - 1;
}

static double robust_sd(struct spread *s)
{
	double sd = sqrt(s->ss / s->dof);
	double robust;

	if (s->dof < ROBUST_MIN)
		return sd;
	robust = median(s->dev, s->n) / MEDIAN_SDS;
	/* Many equal values have the median 0. */
	return robust > 0 ? fmin(sd, robust) : sd;
}

void bisection_noise(const struct noise_value *v, size_t n, struct bisection_noise *ret)
{
	_cleanup_(freep) double *y = xcalloc(n + 1, sizeof(*y));
	_cleanup_(freep) double *sorted = xcalloc(n + 1, sizeof(*sorted));
	_cleanup_(freep) struct mean *boots = xcalloc(n + 1, sizeof(*boots));
	_cleanup_(freep) struct mean *commits = xcalloc(n + 1, sizeof(*commits));
	_cleanup_(freep) double *run_dev = xcalloc(n + 1, sizeof(double));
	_cleanup_(freep) double *boot_dev = xcalloc(n + 1, sizeof(double));
	struct spread within = { .dev = run_dev }, between = { .dev = boot_dev };
	size_t n_boots, n_commits;
	double var, per_boot;

	*ret = (struct bisection_noise){ .ln = true };
	for (size_t i = 0; i < n; i++)
		ret->ln &= v[i].value > 0;
	for (size_t i = 0; i < n; i++) {
		sorted[i] = v[i].value;
		y[i] = ret->ln ? log(v[i].value) : v[i].value;
	}
	ret->level = median(sorted, n);
	n_boots = boot_means(v, y, n, &within, boots);
	n_commits = commit_means(boots, n_boots, &between, commits);
	if (!between.dof && !within.dof)
		return;
	per_boot = (double)n / (double)n_boots;
	var = between.dof ? between.ss / between.dof : 0;
	ret->runs = within.dof;
	ret->boots = between.dof;
	if (within.dof) {
		ret->run = robust_sd(&within);
		/* Few boots: their variance may well be larger than it looks. */
		if (between.dof)
			var *= (between.dof + 2.0) / between.dof;
		var -= within.ss / within.dof / per_boot;
		ret->boot = between.dof ? sqrt(fmax(var, 0)) : ret->run / 2;
	} else {
		ret->run = robust_sd(&between);
		ret->boot = ret->run / 2;
	}
	commit_noise(commits, n_commits, ret->run * ret->run / per_boot + ret->boot * ret->boot,
		     ret);
}

int bisection_noise_read(struct db *db, int64_t job, const char *metric,
			 struct bisection_noise *ret, struct err *e)
{
	_cleanup_(freep) struct noise_value *v = NULL;
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_BISECTION_NOISE, &rows, e, "is", job, metric);

	if (r < 0)
		return r;
	v = xcalloc((size_t)rows.n + 1, sizeof(*v));
	for (int i = 0; i < rows.n; i++) {
		v[i] = (struct noise_value){ .boot = i, .value = db_f64(&rows, i, 3) };
		if (!i)
			continue;
		v[i].machine = v[i - 1].machine +
			       (strcmp(db_str(&rows, i, 0), db_str(&rows, i - 1, 0)) != 0);
		v[i].commit = v[i - 1].commit +
			      (strcmp(db_str(&rows, i, 1), db_str(&rows, i - 1, 1)) != 0);
		if (db_i64(&rows, i, 2) == db_i64(&rows, i - 1, 2))
			v[i].boot = v[i - 1].boot;
	}
	bisection_noise(v, (size_t)rows.n, ret);
	db_rows_done(&rows);
	return 0;
}

static double minutes(const struct db_rows *rows, int col, double guess)
{
	return db_null(rows, 0, col) ? guess : fmax(db_f64(rows, 0, col) / 60, 1e-4);
}

int bisection_cost(struct db *db, int64_t job, struct bisection_cost *ret, struct err *e)
{
	struct bisect_params guess = bisect_params_default();
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_BISECTION_COSTS, &rows, e, "is", job, "");

	if (r < 0)
		return r;
	*ret = (struct bisection_cost){
		.build = minutes(&rows, 0, guess.cost_build),
		.incremental = minutes(&rows, 1, guess.cost_incremental),
		.builds = (int)db_i64(&rows, 0, 2),
		.boot = minutes(&rows, 3, guess.cost_boot),
		.boots = (int)db_i64(&rows, 0, 4),
		.run = minutes(&rows, 5, guess.cost_run),
		.runs = (int)db_i64(&rows, 0, 6),
	};
	db_rows_done(&rows);
	return 0;
}

void bisection_model(const struct bisection_noise *noise, const struct bisection_cost *cost,
		     double effect, double lo, double hi, struct bisect_params *p)
{
	const struct bisect_params guess = bisect_params_default();
	double scale = noise->ln ? 1 : fabs(noise->level);
	double room;

	p->eps = guess.eps;
	p->prior_none = guess.prior_none;
	p->incremental_span = guess.incremental_span;
	p->step = p->step_sd = 0;
	if (noise->ln && effect > -1 && effect != 0) {
		p->step = log1p(effect);
		p->step_sd = fabs(log1p(fmax(hi, -0.99)) - log1p(fmax(lo, -0.99))) / 4;
	}
	if (!(scale > 0))
		scale = 1;
	p->sigma = fmax(noise->run > 0 ? noise->run : SIGMA_GUESS * scale, SIGMA_LEAST * scale);
	p->boot_sd = noise->boots ? fmax(noise->boot, 0.15 * p->sigma) : p->sigma / 2;
	/* Builds that differ by their layout alone; real steps in the history are none of it. */
	room = fmax(0.15 * p->sigma, fabs(p->step) / 20);
	p->commit_sd = fmax(room, fmin(noise->commit, fabs(p->step) / 10));
	p->cost_build = fmax(cost->build, cost->incremental);
	p->cost_incremental = cost->incremental;
	p->cost_boot = cost->boot;
	p->cost_run = cost->run;
}

void bisection_model_least(const struct bisection_noise *noise, double least,
			   struct bisect_params *p)
{
	double scale = fabs(noise->level) > 0 ? fabs(noise->level) : 1;

	if (p->step == 0)
		p->step_least = noise->ln ? log1p(least) : least * scale;
}

json_t *bisection_model_json(const struct bisection_noise *noise, const struct bisection_cost *cost,
			     const struct bisect_params *p)
{
	json_t *o = json_object();

	json_set_f64(o, "sigma", p->sigma);
	json_set_f64(o, "boot_sd", p->boot_sd);
	json_set_f64(o, "commit_sd", p->commit_sd);
	json_set_f64(o, "step", p->step);
	json_set_f64(o, "step_sd", p->step_sd);
	if (p->step_least > 0)
		json_set_f64(o, "step_least", p->step_least);
	json_set_bool(o, "ln", noise->ln);
	json_set_i64(o, "from_runs", noise->runs);
	json_set_i64(o, "from_boots", noise->boots);
	json_set_i64(o, "from_commits", noise->commits);
	json_set_f64(o, "build_min", p->cost_build);
	json_set_f64(o, "incremental_min", p->cost_incremental);
	json_set_f64(o, "boot_min", p->cost_boot);
	json_set_f64(o, "run_min", p->cost_run);
	json_set_i64(o, "from_builds", cost->builds);
	return o;
}
