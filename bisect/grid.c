/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Likelihoods of the runs on a grid of levels: boots, then commits. */
#include "bisect/grid.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <string.h>

#define GRID_MOST	500.0
#define OUTLIER_WIDTH	4.0
#define SIGMA_PRIOR_DOF 20.0
#define SIGMA_ROUNDS	5
/* Even where no outliers are expected one must not make the noise. */
#define EPS_LEAST 1e-3
/*
 * A boot, or a commit, that was measured wrongly must not decide alone: shares of the largest
 * likelihood on a grid FLOOR_SPAN times as wide as the noise, less on a wider one, since what is
 * wrong may be anywhere.
 */
#define FLOOR_SPAN   14.0
#define BOOT_FLOOR   0.003
#define COMMIT_FLOOR 1e-5
/*
 * The noise profile may be too quiet: some boots and some builds are off by a sixth of the step, so that a level beside the good one but far from the bad one still counts as good.
 */
#define STRAY_SHARE   0.01
#define STRAY_OF_STEP (1.0 / 6)

void bisect_grid_blur(const double *src, double *dst, size_t n, double h, double sd)
{
	_cleanup_(freep) double *kernel = NULL;
	ptrdiff_t last = (ptrdiff_t)n - 1;
	ptrdiff_t radius;
	double sum = 0;

	if (sd < 0.3 * h) {
		memcpy(dst, src, n * sizeof(*dst));
		return;
	}
	radius = (ptrdiff_t)ceil(4 * sd / h);
	kernel = xcalloc((size_t)(2 * radius + 1), sizeof(*kernel));
	for (ptrdiff_t j = -radius; j <= radius; j++) {
		double z = (double)j * h / sd;

		sum += kernel[j + radius] = exp(-0.5 * z * z);
	}
	memset(dst, 0, n * sizeof(*dst));
	/* Cell by cell of the kernel, so that the inner loop runs over plain arrays. */
	for (ptrdiff_t j = -radius; j <= radius; j++) {
		const double share = kernel[j + radius] / sum;
		const ptrdiff_t from = j < 0 ? (-j <= last ? -j : last + 1) : 0;
		const ptrdiff_t end = j > 0 ? (j <= last ? last + 1 - j : 0) : last + 1;

		for (ptrdiff_t i = 0; i < from; i++)
			dst[i] += share * src[0];
		for (ptrdiff_t i = from; i < end; i++)
			dst[i] += share * src[i + j];
		for (ptrdiff_t i = end; i <= last; i++)
			dst[i] += share * src[last];
	}
}

static double stray_sd(const struct bisect_state *s, const struct bisect_eval *v)
{
	const struct bisect_node *good = bisect_eval_node(v, BISECT_GOOD_END);
	const struct bisect_node *bad = bisect_eval_node(v, (int)s->graph->n - 1);

	if (s->params.step != 0)
		return STRAY_OF_STEP * fabs(s->params.step);
	return good && bad ? STRAY_OF_STEP * fabs(good->median - bad->median) : 0;
}

/* Mean over 2 * radius + 1 cells, those beyond the ends as the last ones. */
static void box_blur(const double *src, double *dst, size_t n, size_t radius)
{
	const double width = (double)(2 * radius + 1);
	double sum = (double)radius * src[0];

	for (size_t i = 0; i <= radius; i++)
		sum += src[i < n ? i : n - 1];
	for (size_t i = 0; i < n; i++) {
		size_t in = i + radius + 1;

		dst[i] = fmax(sum, 0) / width;
		sum += src[in < n ? in : n - 1] - src[i > radius ? i - radius : 0];
	}
}

/*
 * Three boxes make a bell with sd @sd that ends at 3 sd. For a sixth of the step that is half way
 * to the other level, just where a stray should end; and it takes the same time however wide.
 */
static void wide_blur(const double *src, double *dst, size_t n, double h, double sd)
{
	_cleanup_(freep) double *half = xcalloc(n, sizeof(*half));
	size_t radius = (size_t)fmax(0, floor(sd / h));

	box_blur(src, dst, n, radius);
	box_blur(dst, half, n, radius);
	box_blur(half, dst, n, radius);
}

void bisect_grid_spread(const struct bisect_state *s, const struct bisect_eval *v,
			const double *src, double *dst, double sd)
{
	_cleanup_(freep) double *wide = NULL;
	double stray = stray_sd(s, v);

	bisect_grid_blur(src, dst, v->grid, v->h, sd);
	/* No wider than the known noise, it would change nothing. */
	if (stray < 1.5 * fmax(sd, v->sigma))
		return;
	wide = xcalloc(v->grid, sizeof(*wide));
	wide_blur(src, wide, v->grid, v->h, stray);
	for (size_t i = 0; i < v->grid; i++)
		dst[i] = (1 - STRAY_SHARE) * dst[i] + STRAY_SHARE * wide[i];
}

static double run_density(double z, double eps)
{
	double zw = z / OUTLIER_WIDTH;

	return (1 - eps) * exp(-0.5 * z * z) + eps / OUTLIER_WIDTH * exp(-0.5 * zw * zw);
}

/* Far from the value the density underflows, its logarithm does not. */
static double run_log_density(double z2, double eps)
{
	double narrow = log1p(-eps) - 0.5 * z2;
	double wide;

	if (eps <= 0)
		return narrow;
	wide = log(eps / OUTLIER_WIDTH) - 0.5 * z2 / (OUTLIER_WIDTH * OUTLIER_WIDTH);
	return narrow > wide ? narrow + log1p(exp(wide - narrow))
			     : wide + log1p(exp(narrow - wide));
}

/* Inverse Fisher information of the location: what one run among outliers is worth. */
static double run_variance(double eps)
{
	double info = 0;
	double sum = 0;

	for (int i = -400; i <= 400; i++) {
		double z = i / 20.0;
		double zw = z / OUTLIER_WIDTH;
		double f = run_density(z, eps);
		double df = (1 - eps) * z * exp(-0.5 * z * z) +
			    eps / OUTLIER_WIDTH * zw / OUTLIER_WIDTH * exp(-0.5 * zw * zw);

		sum += f;
		if (f > 0)
			info += df * df / f;
	}
	return sum / info;
}

static int compare_double(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median_of_runs(const struct bisect_state *s, int commit)
{
	_cleanup_(freep) double *y = xcalloc(s->n_runs + 1, sizeof(*y));
	size_t n = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].commit == commit)
			y[n++] = s->runs[i].y;
	qsort(y, n, sizeof(*y), compare_double);
	return n == 0 ? 0 : 0.5 * (y[(n - 1) / 2] + y[n / 2]);
}

/* First run of its boot? Boots are few, so looking back is cheap. */
static bool run_opens_boot(const struct bisect_state *s, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (s->runs[j].commit == s->runs[i].commit && s->runs[j].boot == s->runs[i].boot)
			return false;
	return true;
}

static bool same_boot(const struct bisect_run *a, const struct bisect_run *b)
{
	return a->commit == b->commit && a->boot == b->boot;
}

/*
 * Probability that a residual of @z sds belongs to the narrow part of the runs. From the ratio of
 * both densities, since each of them underflows far out.
 */
static double narrow_share(double z, double eps)
{
	double wide = log(eps / (1 - eps) / OUTLIER_WIDTH) +
		      0.5 * z * z * (1 - 1 / (OUTLIER_WIDTH * OUTLIER_WIDTH));

	return wide < 500 ? 1 / (1 + exp(wide)) : 0;
}

struct residual {
	double ss;   /* of the run, around the mean of its boot */
	double dof;  /* share of a degree of freedom */
	double runs; /* in its boot: each of them may be the outlier */
};

static size_t collect_residuals(const struct bisect_state *s, struct residual *ret)
{
	size_t k = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		double mean = 0;
		double n = 0;

		if (!run_opens_boot(s, i))
			continue;
		for (size_t j = i; j < s->n_runs; j++)
			if (same_boot(&s->runs[i], &s->runs[j])) {
				mean += s->runs[j].y;
				n++;
			}
		mean /= n;
		for (size_t j = i; n > 1 && j < s->n_runs; j++)
			if (same_boot(&s->runs[i], &s->runs[j])) {
				double d = s->runs[j].y - mean;

				ret[k++] = (struct residual){ d * d, 1 - 1 / n, n };
			}
	}
	return k;
}

/*
 * The noise of one run by what the runs of one boot differ, next to what was known before. Outliers
 * are weighted out, not clipped: clipped ones would still add up to a tenth of the noise.
 */
static double refine_sigma(const struct bisect_state *s)
{
	_cleanup_(freep) struct residual *all = xcalloc(s->n_runs + 1, sizeof(*all));
	const size_t n = collect_residuals(s, all);
	const double known = s->params.sigma * s->params.sigma;
	double var = known;

	for (int round = 0; round < SIGMA_ROUNDS; round++) {
		double ss = SIGMA_PRIOR_DOF * known;
		double dof = SIGMA_PRIOR_DOF;

		for (size_t i = 0; i < n; i++) {
			double share = narrow_share(
				sqrt(all[i].ss / all[i].dof / var),
				fmin(0.5, all[i].runs * fmax(s->params.eps, EPS_LEAST)));

			ss += share * all[i].ss;
			dof += share * all[i].dof;
		}
		var = ss / dof;
	}
	return sqrt(var);
}

static void grid_widen(double *lo, double *hi, double y)
{
	*lo = fmin(*lo, y);
	*hi = fmax(*hi, y);
}

static void place_grid(struct bisect_eval *v, const struct bisect_state *s)
{
	const struct bisect_params *p = &s->params;
	double sd =
		sqrt(v->sigma * v->sigma + p->boot_sd * p->boot_sd + p->commit_sd * p->commit_sd);
	const struct bisect_node *good = bisect_eval_node(v, BISECT_GOOD_END);
	const struct bisect_node *bad = bisect_eval_node(v, (int)s->graph->n - 1);
	double lo = INFINITY;
	double hi = -INFINITY;

	if (good)
		grid_widen(&lo, &hi, good->median);
	if (bad)
		grid_widen(&lo, &hi, bad->median);
	if (good && !bad)
		grid_widen(&lo, &hi, good->median + p->step);
	if (bad && !good)
		grid_widen(&lo, &hi, bad->median - p->step);
	for (size_t i = 0; i < v->n_nodes && !good && !bad; i++)
		grid_widen(&lo, &hi, v->nodes[i].median);
	if (v->n_nodes == 0)
		lo = hi = 0;
	lo -= 6 * sd;
	hi += 6 * sd;
	v->floor_share = fmin(1, FLOOR_SPAN * sd / (hi - lo));
	v->lo = lo;
	v->h = fmax(0.08 * v->sigma, (hi - lo) / GRID_MOST);
	v->grid = (size_t)ceil((hi - lo) / v->h) + 1;
}

/* ln likelihood of all runs of the boot that run @first opened. */
static void boot_log_like(const struct bisect_state *s, const struct bisect_eval *v, size_t first,
			  double *ret)
{
	/* A peak narrower than a grid cell would fall between two levels. */
	double sigma = fmax(v->sigma, 0.75 * v->h);

	memset(ret, 0, v->grid * sizeof(*ret));
	for (size_t j = first; j < s->n_runs; j++) {
		if (!same_boot(&s->runs[first], &s->runs[j]))
			continue;
		for (size_t i = 0; i < v->grid; i++) {
			double z = (s->runs[j].y - v->lo - (double)i * v->h) / sigma;

			ret[i] += run_log_density(z * z, s->params.eps);
		}
	}
}

static double array_max(const double *a, size_t n)
{
	double m = a[0];

	for (size_t i = 1; i < n; i++)
		m = fmax(m, a[i]);
	return m;
}

static void multiply_boot(const struct bisect_state *s, const struct bisect_eval *v, size_t first,
			  double *product)
{
	_cleanup_(freep) double *log_like = xcalloc(v->grid, sizeof(double));
	_cleanup_(freep) double *like = xcalloc(v->grid, sizeof(double));
	double top;

	boot_log_like(s, v, first, log_like);
	top = array_max(log_like, v->grid);
	for (size_t i = 0; i < v->grid; i++)
		log_like[i] = exp(log_like[i] - top);
	bisect_grid_spread(s, v, log_like, like, s->params.boot_sd);
	top = array_max(like, v->grid);
	for (size_t i = 0; i < v->grid; i++)
		product[i] *= like[i] / top + BOOT_FLOOR * v->floor_share;
	top = array_max(product, v->grid);
	for (size_t i = 0; i < v->grid; i++)
		product[i] /= top;
}

static void fill_node(struct bisect_node *node, const struct bisect_state *s,
		      const struct bisect_eval *v)
{
	double sum = 0;
	double top;

	node->boot_product = xcalloc(v->grid, sizeof(double));
	node->like = xcalloc(v->grid, sizeof(double));
	node->log_like = xcalloc(v->grid, sizeof(double));
	for (size_t i = 0; i < v->grid; i++)
		node->boot_product[i] = 1;
	for (size_t j = 0; j < s->n_runs; j++)
		if (s->runs[j].commit == node->commit && run_opens_boot(s, j))
			multiply_boot(s, v, j, node->boot_product);
	bisect_grid_spread(s, v, node->boot_product, node->like, s->params.commit_sd);
	top = array_max(node->like, v->grid);
	for (size_t i = 0; i < v->grid; i++)
		sum += node->boot_product[i];
	node->anywhere = COMMIT_FLOOR * v->floor_share * top / sum;
	for (size_t i = 0; i < v->grid; i++) {
		node->like[i] = node->like[i] / top + COMMIT_FLOOR * v->floor_share;
		node->log_like[i] = log(node->like[i]);
	}
}

static void collect_nodes(struct bisect_eval *v, const struct bisect_state *s)
{
	v->nodes = xcalloc(s->n_runs + 1, sizeof(*v->nodes));
	for (size_t i = 0; i < s->n_runs; i++) {
		int commit = s->runs[i].commit;
		struct bisect_node *node;

		if (bisect_eval_node(v, commit))
			continue;
		node = &v->nodes[v->n_nodes++];
		node->commit = commit;
		node->n_boots = bisect_boots(s, commit);
		node->n_runs = bisect_runs(s, commit);
		node->median = median_of_runs(s, commit);
	}
}

void bisect_grid_fill(struct bisect_eval *v, const struct bisect_state *s)
{
	v->sigma = refine_sigma(s);
	v->sigma_mean = v->sigma * sqrt(run_variance(s->params.eps));
	collect_nodes(v, s);
	place_grid(v, s);
	for (size_t i = 0; i < v->n_nodes; i++)
		fill_node(&v->nodes[i], s, v);
}
