/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose fault a failed boot is, and who boots in which turn. */
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_failures.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_result.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#define COMMITS	  9
#define BAD	  (COMMITS - 1)
#define BOOTS_MAX 64

static struct boot_brief boots[BOOTS_MAX];
static char machine[] = "m1";

static int set_up(void **state)
{
	struct bisection_run *b = calloc(1, sizeof(*b));
	struct bisect_params p = bisect_params_default();
	struct err e = { 0 };

	assert_non_null(b);
	memset(boots, 0, sizeof(boots));
	b->boots = boots;
	(void)snprintf(b->row.id, sizeof(b->row.id), "b1111111");
	b->row.machine = machine;
	memset(b->good, 'f', 40);
	assert_ok(bisect_graph_add_line(&b->range.graph, COMMITS, &e), &e);
	assert_ok(bisect_graph_prepare(&b->range.graph, &e), &e);
	assert_ok(bisect_init(&b->state, &b->range.graph, &p, &e), &e);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bisection_run *b = *state;

	bisect_done(&b->state);
	bisect_graph_done(&b->range.graph);
	free(b);
	return 0;
}

static const char *hash(const struct bisection_run *b, int commit)
{
	return commit == BISECT_GOOD_END ? b->good : b->range.graph.commits[commit].hash;
}

/* @class "ok": a good one. */
static void add(struct bisection_run *b, int commit, const char *class, int n)
{
	for (int i = 0; i < n; i++) {
		struct boot_brief *o = &boots[b->n_boots++];

		assert_true(b->n_boots <= BOOTS_MAX);
		*o = (struct boot_brief){ .id = (int64_t)b->n_boots, .ok = !strcmp(class, "ok") };
		(void)snprintf(o->commit, sizeof(o->commit), "%s", hash(b, commit));
		(void)snprintf(o->class, sizeof(o->class), "%s", class);
		(void)snprintf(o->bisection, sizeof(o->bisection), "%s", b->row.id);
		(void)snprintf(o->machine, sizeof(o->machine), "m1");
	}
}

static enum bisect_skip skip_of(struct bisection_run *b, int commit)
{
	struct err e = { 0 };

	assert_ok(bisection_failures_skip(b, &e), &e);
	bisection_failures_count(b);
	return (enum bisect_skip)b->state.skip[commit];
}

static void a_commit_that_never_boots_is_skipped(void **state)
{
	struct bisection_run *b = *state;

	add(b, 4, "boot-panic", 1);
	assert_int_equal(skip_of(b, 4), BISECT_TESTABLE);
	add(b, 4, "boot-hang", 1);
	assert_int_equal(skip_of(b, 4), BISECT_SKIP_BOOT);
	assert_int_equal(b->lab_failures, 0);
}

static void runs_that_never_end_well_taint(void **state)
{
	struct bisection_run *b = *state;

	add(b, 3, "bench-error", 1);
	add(b, 3, "bench-timeout", 1);
	assert_int_equal(skip_of(b, 3), BISECT_TESTABLE);
	add(b, 3, "agent", 1);
	assert_int_equal(skip_of(b, 3), BISECT_SKIP_TAINTED);
}

static void one_that_ran_is_not_given_up_soon(void **state)
{
	struct bisection_run *b = *state;

	add(b, 4, "ok", 1);
	add(b, 4, "oops", 5);
	assert_int_equal(skip_of(b, 4), BISECT_TESTABLE);
	add(b, 4, "oops", 3);
	assert_int_equal(skip_of(b, 4), BISECT_SKIP_BOOT);
}

static void a_fault_of_the_lab_says_nothing_about_a_commit(void **state)
{
	static const char *const classes[] = { "setup", "clock", "disk",  "net",
					       "ssh",	"power", "accel", "fault" };
	struct bisection_run *b = *state;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		add(b, 4, classes[i], 3);
		add(b, 5, "ok", 1);
		assert_int_equal(skip_of(b, 5), BISECT_TESTABLE);
		assert_int_equal(b->lab_failures, 0);
		if (i == 0)
			assert_int_equal(skip_of(b, 4), BISECT_TESTABLE);
	}
	/* But it is not tried for ever. */
	assert_int_equal(skip_of(b, 4), BISECT_SKIP_TAINTED);
}

static void a_lab_that_fails_whatever_it_boots_is_given_up(void **state)
{
	struct bisection_run *b = *state;

	add(b, 4, "net", BISECTION_LAB_GIVE_UP);
	assert_int_equal(skip_of(b, 4), BISECT_SKIP_TAINTED);
	assert_int_equal(b->lab_failures, 0);
	add(b, 5, "net", 1);
	assert_int_equal(skip_of(b, 5), BISECT_TESTABLE);
	assert_true(b->lab_failures >= BISECTION_LAB_GIVE_UP);
	assert_string_equal(b->lab_last->class, "net");
}

static void an_end_that_the_lab_cannot_run_ends_it(void **state)
{
	struct bisection_run *b = *state;

	add(b, BISECT_GOOD_END, "power", BISECTION_LAB_GIVE_UP);
	bisection_failures_count(b);
	assert_int_equal(b->lab_failures, BISECTION_LAB_GIVE_UP);
	b->n_boots = 0;
	add(b, BAD, "power", BISECTION_LAB_GIVE_UP);
	bisection_failures_count(b);
	assert_int_equal(b->lab_failures, BISECTION_LAB_GIVE_UP);
}

static void what_was_taken_out_or_is_not_proven_does_not_count(void **state)
{
	struct bisection_run *b = *state;

	add(b, 4, "boot-panic", 4);
	boots[0].excluded = boots[1].excluded = true;
	boots[2].unproven = true;
	assert_int_equal(skip_of(b, 4), BISECT_TESTABLE);
	boots[2].unproven = false;
	assert_int_equal(skip_of(b, 4), BISECT_SKIP_BOOT);
}

static void what_is_compared_boots_in_the_same_turns(void **state)
{
	struct bisection_run *b = *state;
	struct bisection_side sides[] = {
		{ .hash = hash(b, 3) },			    /* parent */
		{ .hash = hash(b, 4) },			    /* culprit */
		{ .hash = hash(b, 7), .with = hash(b, 3) }, /* a check */
	};

	assert_int_equal(bisection_order_missing(b, sides, 3, 5), 15);
	add(b, 3, "ok", 5);
	add(b, 4, "ok", 3);
	/* The culprit twice, the check five times, and each time its parent. */
	assert_int_equal(bisection_order_missing(b, sides, 3, 5), 2 + 5 + 5);
	assert_int_equal(bisection_order_missing(b, sides, 2, 5), 2);
	add(b, 7, "ok", 5);
	add(b, 4, "ok", 2);
	assert_int_equal(bisection_order_missing(b, sides, 3, 5), 0);
}

/* Five boots of each of a thousand parents are ordered by nobody. */
static void a_merge_of_too_many_parents_is_not_verified(void **state)
{
	struct bisection_run *b = *state;
	struct bisect_step step = { .action = BISECT_DONE, .commit = 3, .probability = 0.995 };
	static char hashes[1000][41];
	static const char *parents[1000];
	struct strbuf text = STRBUF_INIT;

	for (int i = 0; i < 1000; i++) {
		(void)snprintf(hashes[i], sizeof(hashes[i]), "%040d", i);
		parents[i] = hashes[i];
	}
	b->job.runs_per_boot = 2;
	b->max_runs = 400;
	b->own_runs = 300;
	/* ten sides, fifty boots, what is left; few parents are verified whatever is left */
	assert_false(bisection_result_too_wide(b, &step, parents, 9, 5, "it", &text));
	b->own_runs = 399;
	assert_false(bisection_result_too_wide(b, &step, parents, 2, 5, "it", &text));
	assert_int_equal(text.len, 0);
	assert_true(bisection_result_too_wide(b, &step, parents, 1000, 5, "it", &text));
	assert_non_null(strstr(strbuf_str(&text),
			       "(0.995), a merge of 1000 parents; to measure it against each of "
			       "them takes 10010 runs more, and the budget has 1"));
	strbuf_done(&text);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_commit_that_never_boots_is_skipped),
		T(runs_that_never_end_well_taint),
		T(one_that_ran_is_not_given_up_soon),
		T(a_fault_of_the_lab_says_nothing_about_a_commit),
		T(a_lab_that_fails_whatever_it_boots_is_given_up),
		T(an_end_that_the_lab_cannot_run_ends_it),
		T(what_was_taken_out_or_is_not_proven_does_not_count),
		T(a_merge_of_too_many_parents_is_not_verified),
		T(what_is_compared_boots_in_the_same_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
