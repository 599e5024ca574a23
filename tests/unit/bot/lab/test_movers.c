/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/movers.h"

#include "bot/base/cleanup.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static struct mover metric(const char *name, double base, double head)
{
	return (struct mover){ .name = name,
			       .base = { base, fabs(base) * 0.001, 5 },
			       .head = { head, fabs(head) * 0.001, 5 } };
}

static void a_slower_loop_alone_is_no_news(void **state)
{
	/* Ticks of a clock go on, the loop's own faults fall with it. */
	struct mover m[] = {
		metric("interrupts.LOC", 1000, 1000),
		metric("interrupts.LOC.per_op", 0.1, 0.105),
		metric("proc-vmstat.pgfault", 10000, 9560),
		metric("proc-vmstat.pgfault.per_op", 1, 1),
		metric("will-it-scale.workload", 10000, 9560),
		metric("meminfo.MemFree", 5000, 5001),
	};

	(void)state;
	assert_int_equal(movers_pick(m, ARRAY_SIZE(m), -0.044), 0);
}

static void what_moved_both_ways_is_told_once_the_largest_first(void **state)
{
	struct mover m[] = {
		metric("vmstat.system.cs", 800, 1500),
		metric("vmstat.system.cs.per_op", 0.08, 0.157),
		metric("meminfo.Slab", 1000, 1200),
		metric("a", 0, 5),
		metric("b", 100, 100.5),
		metric("c", 0, 0),
	};

	(void)state;
	m[3].head.sd = 0.01;
	assert_int_equal(movers_pick(m, ARRAY_SIZE(m), -0.044), 3);
	assert_string_equal(m[0].name, "a");
	assert_true(isinf(m[0].rel));
	assert_string_equal(m[1].name, "vmstat.system.cs.per_op");
	assert_near(m[1].rel, 0.9625, 1e-9);
	assert_string_equal(m[2].name, "meminfo.Slab");
}

static void noise_and_few_runs_are_not_told(void **state)
{
	struct mover m[] = { metric("noisy", 100, 110), metric("few", 100, 200),
			     metric("missing", 100, 200) };

	(void)state;
	m[0].base.sd = m[0].head.sd = 5;
	m[1].head.n = 2;
	m[2].base.n = 0;
	assert_int_equal(movers_pick(m, ARRAY_SIZE(m), -0.04), 0);
	assert_int_equal(movers_pick(m, 0, -0.04), 0);
}

static void a_count_without_its_partner_stands_for_itself(void **state)
{
	struct mover m[] = { metric("x.per_op", 1, 2), metric("x-y", 1, 1), metric("x.a", 1, 1) };

	(void)state;
	assert_int_equal(movers_pick(m, ARRAY_SIZE(m), -0.04), 1);
	assert_string_equal(m[0].name, "x.per_op");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slower_loop_alone_is_no_news),
		cmocka_unit_test(what_moved_both_ways_is_told_once_the_largest_first),
		cmocka_unit_test(noise_and_few_runs_are_not_told),
		cmocka_unit_test(a_count_without_its_partner_stands_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
