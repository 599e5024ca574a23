/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded A/B trials: {"n", "mode", "truth_pct", "hist": [[…]…], "a": […], "b": […]} a line. */
#include "tests/bench/bench_detect.h"

#include "bot/base/cleanup.h"
#include "bot/detect/stats.h"
#include "tests/anchors.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	COMMITS_MAX = 64,
	UNITS_MAX = 32,
	SIZES = 3
};

static const int sizes[SIZES] = { 3, 5, 10 };

enum {
	ANCHORS = 3
};

static const char *const anchor_names[ANCHORS] = { "kernel test robot's rule, > 1 %",
						   "Welch, p<=.01", "Mann-Whitney, p<=.01" };

struct trial {
	size_t size; /* index of n in sizes */
	bool same_build;
	double truth;
	double y[COMMITS_MAX][UNITS_MAX];
	struct detect_commit hist[COMMITS_MAX];
	size_t nhist;
	struct detect_sample a[UNITS_MAX], b[UNITS_MAX];
	size_t na, nb;
};

/* Trials of one kind, and how many of them were called changed. */
struct tally {
	int n[SIZES];
	int hits[SIZES];
};

static size_t read_array(json_t *v, double *x)
{
	size_t i, n = json_array_size(v) < UNITS_MAX ? json_array_size(v) : UNITS_MAX;

	for (i = 0; i < n; i++)
		x[i] = json_number_value(json_array_get(v, i));
	return n;
}

static size_t read_side(json_t *v, struct detect_sample *s)
{
	double x[UNITS_MAX];
	size_t n = read_array(v, x);

	for (size_t i = 0; i < n; i++)
		s[i] = (struct detect_sample){ x[i], -1, (double)NAN };
	return n;
}

static bool read_trial(const char *line, struct trial *t)
{
	json_t *o = json_loads(line, 0, NULL), *hist;
	const char *mode;
	json_int_t n;

	if (!o)
		return false;
	n = json_integer_value(json_object_get(o, "n"));
	for (t->size = 0; t->size < SIZES && sizes[t->size] != n; t->size++)
		;
	mode = json_string_value(json_object_get(o, "mode"));
	t->same_build = mode && !strcmp(mode, "same_build");
	t->truth = json_number_value(json_object_get(o, "truth_pct"));
	hist = json_object_get(o, "hist");
	t->nhist = json_array_size(hist) < COMMITS_MAX ? json_array_size(hist) : COMMITS_MAX;
	for (size_t i = 0; i < t->nhist; i++) {
		t->hist[i] = (struct detect_commit){ .units = t->y[i] };
		t->hist[i].n = read_array(json_array_get(hist, i), t->y[i]);
	}
	t->na = read_side(json_object_get(o, "a"), t->a);
	t->nb = read_side(json_object_get(o, "b"), t->b);
	json_decref(o);
	return t->size < SIZES && t->na && t->nb;
}

/* Is p of one look @alpha or less, with @truth instead of the slowdown in the file? */
static bool changed(struct trial *t, const struct detect_profile *p, double truth, double alpha)
{
	struct detect_options o = detect_options_default();
	struct detect_sample b[UNITS_MAX];
	struct detect_metric m = { t->a, t->na, b, t->nb, DETECT_BETTER_LOWER, true, p };
	struct detect_result r;

	for (size_t i = 0; i < t->nb; i++) {
		b[i] = t->b[i];
		b[i].value *= (1 + truth / 100) / (1 + t->truth / 100);
	}
	o.single_look = true;
	o.level = 1 - alpha;
	o.min_effect = 0;
	o.fdr_q = alpha;
	bench_compare(&m, 1, &o, &r);
	return r.p <= alpha;
}

/* What others say of the same pair: 0 the rule of the kernel test robot, 1 Welch, 2 ranks. */
static bool anchor_changed(const struct trial *t, double truth, double alpha, int which)
{
	double a[UNITS_MAX], b[UNITS_MAX];
	struct stats_test w;

	for (size_t i = 0; i < t->na; i++)
		a[i] = t->a[i].value;
	for (size_t i = 0; i < t->nb; i++)
		b[i] = t->b[i].value * (1 + truth / 100) / (1 + t->truth / 100);
	if (which == 0)
		return anchor_lkp(a, t->na, b, t->nb, 1.01);
	if (which == 2)
		return stats_mwu(a, t->na, b, t->nb, NULL) <= alpha;
	stats_welch(a, t->na, b, t->nb, &w);
	return w.p <= alpha;
}

static void count(struct tally *y, size_t size, bool hit)
{
	y->n[size]++;
	y->hits[size] += hit;
}

static void show(const char *what, const struct tally *y, enum bench_side side,
		 const double *targets)
{
	for (size_t i = 0; i < SIZES; i++) {
		char text[96];

		(void)snprintf(text, sizeof(text), "%s, n=%d (%d trials)", what, sizes[i], y->n[i]);
		bench_row(text, y->n[i] ? 100. * y->hits[i] / y->n[i] : 0, side, targets[i], "%");
	}
}

int bench_trials(const char *path)
{
	static struct trial t;
	static const double power[] = { 30, 49, 64 }, few[] = { 1.3, 1.3, 1.3 },
			    none[SIZES] = { 0 };
	struct tally same = { 0 }, zero = { 0 }, small = { 0 }, large = { 0 };
	struct tally other_same[ANCHORS] = { 0 }, other_small[ANCHORS] = { 0 };
	struct tally wide_same = { 0 }, wide_zero = { 0 }, wide_small = { 0 }, wide_large = { 0 };
	_cleanup_(freep) char *line = NULL;
	char command[4200];
	size_t cap = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	f = popen(command, "re");
	if (!f)
		return -1;
	while (getline(&line, &cap, f) > 0) {
		struct detect_profile p;
		bool hit;

		if (!read_trial(line, &t))
			continue;
		bench_fit(t.hist, t.nhist, &sizes[t.size], 1, &p);
		if (t.truth == 0) {
			hit = changed(&t, &p, 0, .01);
			count(&zero, t.size, hit);
			if (t.same_build)
				count(&same, t.size, hit);
		}
		if (t.truth == 3.8)
			count(&small, t.size, changed(&t, &p, 3.8, .01));
		if (t.truth == 10)
			count(&large, t.size, changed(&t, &p, 10, .001));
		for (int k = 0; k < ANCHORS; k++) {
			if (t.truth == 0 && t.same_build)
				count(&other_same[k], t.size, anchor_changed(&t, 0, .01, k));
			if (t.truth == 3.8)
				count(&other_small[k], t.size, anchor_changed(&t, 3.8, .01, k));
		}
		hit = changed(&t, &p, 0, .01);
		count(t.same_build ? &wide_same : &wide_zero, t.size, hit);
		count(&wide_small, t.size, changed(&t, &p, 3.8, .01));
		count(&wide_large, t.size, changed(&t, &p, 10, .001));
	}
	if (pclose(f) != 0)
		return -1;
	printf("Recorded A/B trials\n");
	show("same build, truth 0 %, p<=.01", &same, BENCH_AT_MOST, few);
	show("all, truth 0 %, p<=.01", &zero, BENCH_SHOW, none);
	show("truth 3.8 %, p<=.01", &small, BENCH_AT_LEAST, power);
	show("truth 10 %, p<=.001", &large, BENCH_SHOW, none);
	for (int k = 0; k < ANCHORS; k++) {
		printf("Beside it: %s\n", anchor_names[k]);
		show("same build, truth 0 %", &other_same[k], BENCH_SHOW, none);
		show("truth 3.8 %", &other_small[k], BENCH_SHOW, none);
	}
	printf("The same pairs all used for each, slowdown taken out or put in\n");
	show("same build, 0 %, p<=.01", &wide_same, BENCH_SHOW, none);
	show("next commit, 0 %, p<=.01", &wide_zero, BENCH_SHOW, none);
	show("3.8 %, p<=.01", &wide_small, BENCH_SHOW, none);
	show("10 %, p<=.001", &wide_large, BENCH_SHOW, none);
	return 0;
}
