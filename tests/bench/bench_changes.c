/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The change point search on real histories with labels, on line with steps put into clean
 * stretches, and its speed, each beside what is to be reached. An argument names another folder
 * with files of the same form as those in tests/data/series.
 *
 * A labelled step counts as found when a change of kind step has its index within 5 commits. False
 * are changes of kind step with their index in a clean stretch, without 3 commits at each of its
 * ends; what has no label is not scored.
 */
#include "bot/base/cleanup.h"
#include "bot/base/vec.h"
#include "bot/detect/changes.h"
#include "tests/test.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	MATCH = 5,
	CLEAN_MARGIN = 3,
	WITHIN = 3,
	INJECTIONS = 10,
	HISTORIES = 2000,
	COMMITS = 1000,
	SMALL_MAX = 3000
};

struct label {
	bool step;
	size_t start;
	size_t end;
};

struct history {
	long id;
	VEC(struct series_point) points;
	VEC(struct label) labels;
};

static VEC(struct history) histories;
static const char *data = TEST_SOURCE_DIR "/tests/data/series";

static double cpu_s(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct history *history_of(long id)
{
	struct history h = { .id = id };

	vec_foreach (it, &histories) {
		if (it->id == id)
			return it;
	}
	vec_push(&histories, h);
	return &histories.items[histories.len - 1];
}

/* Splits a line at its commas. Return: number of fields. */
static size_t split(char *line, char **fields, size_t max)
{
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (n < max && (fields[n] = strsep(&line, ",")))
		n++;
	return n;
}

static void load_points(void)
{
	_cleanup_(freep) char *cmd = xasprintf("gzip -dc '%s/sap_history.csv.gz'", data);
	FILE *f = popen(cmd, "r"); /* NOLINT: the folder is the caller's own */
	char line[512], *c[6];

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) && split(line, c, 6) == 6) {
		struct history *h = history_of(strtol(c[0], NULL, 10));
		size_t at = strtoul(c[3], NULL, 10);
		struct series_point p = { (double)NAN, 0, (double)NAN };

		while (h->points.len < at)
			vec_push(&h->points, p);
		p.value = strtod(c[5], NULL);
		vec_push(&h->points, p);
	}
	assert_int_equal(pclose(f), 0);
}

static void load_labels(void)
{
	_cleanup_(freep) char *path = xasprintf("%s/sap_history_labels.csv", data);
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char line[512], *c[5];

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) && split(line, c, 5) == 5) {
		struct label l = { .step = !strcmp(c[1], "step"),
				   .start = strtoul(c[2], NULL, 10),
				   .end = strtoul(c[3], NULL, 10) };

		vec_push(&history_of(strtol(c[0], NULL, 10))->labels, l);
	}
}

/* Counts of one pass over the labels. */
struct score {
	size_t steps;
	size_t found;
	size_t clean;
	size_t false_steps;
	size_t false_drifts;
};

static void score_step(struct score *s, const struct label *l, const struct changes *c)
{
	s->steps++;
	for (size_t i = 0; i < c->n; i++) {
		const struct change_point *p = &c->items[i];
		size_t apart = p->index > l->start ? p->index - l->start : l->start - p->index;

		if (p->kind == CHANGE_STEP && apart <= MATCH) {
			s->found++;
			return;
		}
	}
}

static void score_clean(struct score *s, const struct label *l, const struct changes *c)
{
	size_t from = l->start + CLEAN_MARGIN, to = l->end - CLEAN_MARGIN;

	if (l->end < l->start + 2 * CLEAN_MARGIN)
		return;
	s->clean += to - from;
	for (size_t i = 0; i < c->n; i++) {
		const struct change_point *p = &c->items[i];

		if (p->index < from || p->index >= to)
			continue;
		s->false_steps += p->kind == CHANGE_STEP;
		s->false_drifts += p->kind == CHANGE_DRIFT;
	}
}

static double per_1000(size_t n, size_t of)
{
	return of ? 1000.0 * (double)n / (double)of : 0;
}

static double percent(size_t n, size_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

static void whole_histories(void **state)
{
	static const char *const reach[] = { "prototype 91 %, .16",
					     "to reach >= 98 %, <= .3; prototype 99 %, .33", "" };

	(void)state;
	for (int v = CHANGES_BALANCED; v <= CHANGES_ONLINE; v++) {
		struct changes_options o = { .sensitivity = (enum changes_sensitivity)v };
		struct score s = { 0 };

		vec_foreach (h, &histories) {
			struct changes c = { 0 };

			assert_int_equal(
				changes_find(h->points.items, h->points.len, NULL, &o, &c, NULL),
				0);
			vec_foreach (l, &h->labels) {
				if (l->step)
					score_step(&s, l, &c);
				else
					score_clean(&s, l, &c);
			}
			changes_done(&c);
		}
		(void)printf("bench: sap_history, %s: %.1f %% of %zu steps found, %.2f false per "
			     "1000 of %zu clean commits (and %.2f called drift); %s\n",
			     changes_sensitivity_name(o.sensitivity), percent(s.found, s.steps),
			     s.steps, per_1000(s.false_steps, s.clean), s.clean,
			     per_1000(s.false_drifts, s.clean), reach[v]);
		if (v == CHANGES_SENSITIVE) {
			assert_true(percent(s.found, s.steps) >= 98);
			assert_true(per_1000(s.false_steps, s.clean) <= .3);
		}
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct series_point median_point(double *runs, size_t n)
{
	struct series_point p = { (double)NAN, 0, (double)NAN };

	qsort(runs, n, sizeof(*runs), compare_doubles);
	p.value = (runs[(n - 1) / 2] + runs[n / 2]) / 2;
	return p;
}

/* Medians by build. Return: number of builds; @ret_first_bad: build of the run after @last_good. */
static size_t load_small(const char *name, long last_good, struct series_point *points,
			 size_t *ret_first_bad)
{
	_cleanup_(freep) char *path = xasprintf("%s/sap_small_2021/%s", data, name);
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char line[256], build[64] = "", *c[3];
	double runs[256];
	size_t n = 0, nruns = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) && split(line, c, 3) == 3) {
		if (nruns && strcmp(build, c[1]) != 0) {
			points[n++] = median_point(runs, nruns);
			nruns = 0;
		}
		assert_true(n < SMALL_MAX - 1 && nruns < ARRAY_SIZE(runs));
		(void)snprintf(build, sizeof(build), "%s", c[1]);
		if (strtol(c[0], NULL, 10) == last_good + 1)
			*ret_first_bad = n;
		runs[nruns++] = strtod(c[2], NULL);
	}
	if (nruns)
		points[n++] = median_point(runs, nruns);
	return n;
}

struct small {
	size_t regressions;
	size_t found;
	size_t others;
};

static void score_small(const char *name, long last_good, enum changes_sensitivity v,
			struct small *s)
{
	static struct series_point points[SMALL_MAX];
	struct changes_options o = { .sensitivity = v };
	struct changes c = { 0 };
	size_t bad = 0, n = load_small(name, last_good, points, &bad);

	s->regressions += last_good > 0;
	assert_int_equal(changes_find(points, n, NULL, &o, &c, NULL), 0);
	for (size_t i = 0; i < c.n; i++) {
		const struct change_point *p = &c.items[i];

		if (p->kind == CHANGE_OUTLIER_RUN)
			continue;
		if (last_good > 0 && p->index + 1 >= bad && p->index <= bad + 1)
			s->found++;
		else
			s->others++;
	}
	changes_done(&c);
}

static void series_that_people_labelled(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/sap_small_2021/labels.csv", data);
	char line[256], *f[3];

	(void)state;
	for (int v = CHANGES_BALANCED; v <= CHANGES_ONLINE; v++) {
		_cleanup_(fclosep) FILE *labels = fopen(path, "re");
		struct small s = { 0 };

		assert_non_null(labels);
		assert_non_null(fgets(line, sizeof(line), labels));
		while (fgets(line, sizeof(line), labels) && split(line, f, 3) == 3)
			score_small(f[0], strtol(f[2], NULL, 10), (enum changes_sensitivity)v, &s);
		(void)printf("bench: sap_small_2021, %s: %zu of %zu regressions within 1 build, "
			     "%zu other changes; to reach: all, and 0\n",
			     changes_sensitivity_name((enum changes_sensitivity)v), s.found,
			     s.regressions, s.others);
		assert_int_equal(s.found, s.regressions);
		assert_int_equal(s.others, 0);
	}
}

static double on_line_false(void)
{
	struct score s = { 0 };

	vec_foreach (h, &histories) {
		struct changes c = { 0 };

		assert_int_equal(
			changes_online(h->points.items, h->points.len, 0, NULL, NULL, &c, NULL), 0);
		vec_foreach (l, &h->labels) {
			if (!l->step)
				score_clean(&s, l, &c);
		}
		changes_done(&c);
	}
	(void)printf("bench: on line: %zu false in %zu clean commits, %.2f per 1000, taken back "
		     "ones too (and %.2f called drift); to reach <= 1.5\n",
		     s.false_steps, s.clean, per_1000(s.false_steps, s.clean),
		     per_1000(s.false_drifts, s.clean));
	return per_1000(s.false_steps, s.clean);
}

/* Does a step by @factor at @at show, at the right place, within WITHIN commits? */
static bool injected_is_seen(const struct history *h, size_t at, double factor)
{
	size_t end = at + WITHIN;
	_cleanup_(freep) struct series_point *points = xcalloc(end, sizeof(*points));
	struct changes c = { 0 };
	bool seen = false;

	memcpy(points, h->points.items, end * sizeof(*points));
	for (size_t i = at; i < end; i++)
		points[i].value *= factor;
	assert_int_equal(changes_online(points, end, at, NULL, NULL, &c, NULL), 0);
	for (size_t i = 0; i < c.n; i++) {
		const struct change_point *p = &c.items[i];

		seen = seen || (p->kind == CHANGE_STEP && p->index + MATCH >= at &&
				(p->rel > 0) == (factor > 1));
	}
	changes_done(&c);
	return seen;
}

/*
 * Each clean stretch of 40 commits or more gets INJECTIONS steps, one at a time, at least 15 commits
 * from its ends, up or down by chance: values from there on are multiplied or divided.
 */
static double on_line_found(double step)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	size_t n = 0, seen = 0;

	gsl_rng_set(rng, 20240229);
	vec_foreach (h, &histories) {
		vec_foreach (l, &h->labels) {
			for (int i = 0; i < INJECTIONS && !l->step && l->end - l->start >= 40;
			     i++) {
				size_t at = l->start + 15 +
					    gsl_rng_uniform_int(rng, l->end - l->start - 30);
				double f = gsl_rng_uniform(rng) < .5 ? 1 + step : 1 / (1 + step);

				seen += injected_is_seen(h, at, f);
				n++;
			}
		}
	}
	gsl_rng_free(rng);
	(void)printf(
		"bench: on line: steps of %.0f %% put into clean stretches: %.1f %% of %zu seen "
		"within %d commits%s\n",
		100 * step, percent(seen, n), n, WITHIN, step == .1 ? "; to reach >= 55 %" : "");
	return percent(seen, n);
}

static void on_line(void **state)
{
	(void)state;
	assert_true(on_line_false() <= 1.5);
	assert_true(on_line_found(.1) >= 55);
	(void)on_line_found(.05);
}

static void noise_without_change(void **state)
{
	static const char *const kinds[] = { "normal", "Student t, 3 df", "AR(1), .5", "two modes",
					     "random walk of .05 sigma" };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	static struct series_point points[COMMITS];

	(void)state;
	gsl_rng_set(rng, 20240229);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		size_t steps[3] = { 0 }, n = 0;

		for (int round = 0; round < 200; round++, n += COMMITS) {
			double ar = 0, walk = 0;

			for (size_t i = 0; i < COMMITS; i++) {
				double g = gsl_ran_gaussian(rng, .02);

				ar = .5 * ar + g;
				walk += gsl_ran_gaussian(rng, .001);
				g = k == 1 ? .02 * gsl_ran_tdist(rng, 3) : k == 2 ? ar : g;
				g += k == 3 && gsl_rng_uniform(rng) < .3 ? .1 : 0;
				g += k == 4 ? walk : 0;
				points[i] = (struct series_point){ 100 * exp(g), 0, (double)NAN };
			}
			for (int v = 0; v < 3; v++) {
				struct changes_options o = { (enum changes_sensitivity)v, 0, 0 };
				struct changes c = { 0 };

				(void)changes_find(points, COMMITS, NULL, &o, &c, NULL);
				for (size_t i = 0; i < c.n; i++)
					steps[v] += c.items[i].kind == CHANGE_STEP;
				changes_done(&c);
			}
		}
		(void)printf("bench: noise, %s: steps per 1000 commits: balanced %.3f, sensitive "
			     "%.3f, online %.3f\n",
			     kinds[k], per_1000(steps[0], n), per_1000(steps[1], n),
			     per_1000(steps[2], n));
	}
	gsl_rng_free(rng);
}

static void print_speed(const char *what, double s, size_t changes)
{
	(void)printf("bench: %d histories of %d commits, %s: %.2f s, %.3f ms each, %.1f changes "
		     "each; to reach <= 1 s\n",
		     HISTORIES, COMMITS, what, s, 1000 * s / HISTORIES,
		     (double)changes / HISTORIES);
	assert_true(s <= 1);
}

static void speed(void **state)
{
	static struct series_point points[COMMITS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	size_t changes = 0, n = 0;
	double start = cpu_s(), level = 0;

	(void)state;
	for (size_t i = 0; n < HISTORIES; i = (i + 1) % histories.len) {
		const struct history *h = &histories.items[i];
		struct changes c = { 0 };

		if (h->points.len < COMMITS)
			continue;
		(void)changes_find(h->points.items + h->points.len - COMMITS, COMMITS, NULL, NULL,
				   &c, NULL);
		changes += c.n;
		n++;
		changes_done(&c);
	}
	print_speed("sap_history", cpu_s() - start, changes);
	gsl_rng_set(rng, 20240229);
	/* Steps of 20 sigma: some 256 levels. */
	for (size_t i = 0; i < COMMITS; i++) {
		level += i % 150 == 149 ? (gsl_rng_uniform(rng) < .5 ? .2 : -.2) : 0;
		points[i].value = exp(level + gsl_ran_gaussian(rng, .01));
	}
	start = cpu_s();
	changes = 0;
	for (n = 0; n < HISTORIES; n++) {
		struct changes c = { 0 };

		(void)changes_find(points, COMMITS, NULL, NULL, &c, NULL);
		changes += c.n;
		changes_done(&c);
	}
	print_speed("steps of 20 sigma", cpu_s() - start, changes);
	start = cpu_s();
	for (n = 0; n < 20; n++) {
		struct changes c = { 0 };

		(void)changes_online(points, COMMITS, 0, NULL, NULL, &c, NULL);
		changes_done(&c);
	}
	(void)printf("bench: on line, a whole history of %d commits: %.1f ms\n", COMMITS,
		     1000 * (cpu_s() - start) / 20);
	gsl_rng_free(rng);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_histories), cmocka_unit_test(series_that_people_labelled),
		cmocka_unit_test(on_line),	   cmocka_unit_test(noise_without_change),
		cmocka_unit_test(speed),
	};

	if (argc > 1)
		data = argv[1];
	load_points();
	load_labels();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
