/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/lab/layout.h"
#include "bot/lab/relevance.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

/* The answer about files that are separated by blanks; *why is the deciding one or "". */
static enum relevance judge(const char *suite, const char *test, const char *files, char why[100])
{
	char copy[400], *rest = NULL;
	const char *paths[20];
	struct relevance_input in = { .suite = suite, .test = test, .arch = "x86", .paths = paths };
	enum relevance r;
	size_t at;

	(void)snprintf(copy, sizeof(copy), "%s", files);
	for (char *p = strtok_r(copy, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
		paths[in.n_paths++] = p;
	r = relevance_judge(&in, &at);
	if (why)
		(void)snprintf(why, 100, "%s", at < in.n_paths ? paths[at] : "");
	return r;
}

static void knows_what_a_test_runs(void **state)
{
	static const struct {
		const char *suite, *test, *files;
		enum relevance want;
	} cases[] = {
		{ "will-it-scale", "page_fault1", "mm/memory.c", RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "mm/huge_memory.c drivers/net/foo.c",
		  RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "arch/x86/mm/fault.c", RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "arch/arm64/mm/fault.c", RELEVANCE_NO },
		{ "will-it-scale", "page_fault1", "fs/pipe.c", RELEVANCE_NO },
		{ "will-it-scale", "page_fault1", "Makefile", RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "init/Kconfig", RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "drivers/net/Kconfig drivers/net/Makefile",
		  RELEVANCE_NO },
		{ "will-it-scale", "page_fault1", "kernel/sched/fair.c", RELEVANCE_YES },
		{ "will-it-scale", "page_fault1", "include/linux/sched.h", RELEVANCE_YES },
		{ "will-it-scale", "getppid1", "arch/x86/entry/common.c", RELEVANCE_YES },
		{ "will-it-scale", "getppid1", "kernel/sys.c", RELEVANCE_YES },
		{ "will-it-scale", "getppid1", "mm/memory.c", RELEVANCE_NO },
		{ "will-it-scale", "getppid1", "include/linux/blkdev.h block/blk-mq.c",
		  RELEVANCE_NO },
		{ "will-it-scale", "read3", "drivers/nvme/host/pci.c", RELEVANCE_YES },
		{ "will-it-scale", "unix1", "net/unix/af_unix.c", RELEVANCE_YES },
		{ "will-it-scale", "unix1", "net/wireless/core.c", RELEVANCE_NO },
		{ "will-it-scale", "getppid1", "drivers/cpufreq/intel_pstate.c", RELEVANCE_YES },
		{ "vm-scalability", "anon-r-rand-mt", "mm/rmap.c", RELEVANCE_YES },
		{ "vm-scalability", NULL, "mm/rmap.c", RELEVANCE_YES },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		enum relevance got = judge(cases[i].suite, cases[i].test, cases[i].files, NULL);

		if (got != cases[i].want)
			fail_msg("%s %s: %s, not %s", cases[i].test, cases[i].files,
				 relevance_name(got), relevance_name(cases[i].want));
	}
}

static void a_test_without_hints_is_left_alone_unless_all_is_far_away(void **state)
{
	char why[100];

	(void)state;
	assert_int_equal(judge("stress-ng", "vm", "mm/memory.c", why), RELEVANCE_UNKNOWN);
	assert_string_equal(why, "mm/memory.c");
	assert_int_equal(judge("stress-ng", "vm", "drivers/net/a.c kernel/fork.c", why),
			 RELEVANCE_UNKNOWN);
	assert_string_equal(why, "kernel/fork.c");
	assert_int_equal(
		judge("stress-ng", "vm", "drivers/net/a.c Documentation/b.rst sound/c.c", why),
		RELEVANCE_NO);
	assert_string_equal(why, "");
	assert_int_equal(judge("stress-ng", "vm", "arch/riscv/kernel/entry.S", why), RELEVANCE_NO);
	assert_int_equal(judge("stress-ng", "vm", "kernel/sched/core.c", why), RELEVANCE_YES);
}

/* Cases that people on the list complained about. */
static void set_up_code_is_not_run_by_a_loop_of_system_calls(void **state)
{
	static const char *const tests[] = {
		"page_fault1", "getppid1", "poll2", "context_switch1", "futex1", "a-later-one", NULL
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		/* genirq: Add IRQF_NO_AUTOEN for request_irq/nmi() */
		assert_int_equal(judge("will-it-scale", tests[i],
				       "include/linux/interrupt.h kernel/irq/manage.c "
				       "kernel/irq/settings.h",
				       NULL),
				 RELEVANCE_NO);
		/* driver core: Add support for linking devices during device addition */
		assert_int_equal(judge("will-it-scale", tests[i],
				       "drivers/base/core.c include/linux/device.h", NULL),
				 RELEVANCE_NO);
	}
	assert_int_equal(
		judge("unixbench", "syscall", "drivers/base/core.c include/linux/device.h", NULL),
		RELEVANCE_NO);
	assert_int_equal(judge("unixbench", "whetstone", "drivers/base/core.c", NULL),
			 RELEVANCE_NO);
}

static void what_is_no_kernel_tree_is_not_judged(void **state)
{
	static const char *const files[] = {
		"words", "a.c",	  "src/mm/memory.c", "/mm/memory.c", "..",  "",
		"arch",	 "arch/", "drivers",	     "mm",	     "mm/", "*",
		"@"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const char *one[] = { files[i] };
		struct relevance_input in = { .suite = "will-it-scale",
					      .test = "page_fault1",
					      .arch = "x86",
					      .paths = one,
					      .n_paths = 1 };

		if (files[i][0] == '.')
			continue;
		if (relevance_judge(&in, NULL) != RELEVANCE_UNKNOWN)
			fail_msg("'%s' is judged", files[i]);
	}
	assert_int_equal(judge("will-it-scale", "page_fault1", "", NULL), RELEVANCE_UNKNOWN);
}

static void a_function_of_the_profile_is_run_wherever_it_is(void **state)
{
	static const char *const path[] = { "drivers/base/core.c" };
	static const char *const changed[] = { "device_add", "device_link_add" };
	static const char *const seen[] = { "down_read", "device_link_add" };
	struct relevance_input in = { .suite = "will-it-scale",
				      .test = "page_fault1",
				      .arch = "x86",
				      .paths = path,
				      .n_paths = 1,
				      .symbols = changed,
				      .n_symbols = 2,
				      .profile = seen,
				      .n_profile = 2 };
	size_t why;

	(void)state;
	assert_int_equal(relevance_judge(&in, &why), RELEVANCE_YES);
	assert_int_equal(why, 1);
	in.n_profile = 1;
	assert_int_equal(relevance_judge(&in, &why), RELEVANCE_NO);
	assert_int_equal(why, 1);
}

static enum layout layout(double normal, double rel, double lo, double hi)
{
	struct layout_effect n = { normal, (double)NAN, (double)NAN }, a = { rel, lo, hi };

	return layout_judge(&n, &a);
}

static void a_change_that_alignment_takes_away_was_layout(void **state)
{
	double nan = (double)NAN, inf = (double)INFINITY;

	(void)state;
	assert_int_equal(layout(-.052, .0002, -.006, .0064), LAYOUT_GONE);
	assert_int_equal(layout(-.052, -.003, -.02, .014), LAYOUT_GONE);
	assert_int_equal(layout(-.052, .02, .01, .03), LAYOUT_GONE); /* even better */
	assert_int_equal(layout(-.052, -.05, -.06, -.04), LAYOUT_STILL);
	assert_int_equal(layout(-.052, -.08, -.1, -.06), LAYOUT_STILL);
	assert_int_equal(layout(-.052, -.012, -.018, -.006), LAYOUT_PART);
	assert_int_equal(layout(-.052, -.02, -.04, .001), LAYOUT_UNCLEAR);
	assert_int_equal(layout(-.052, -.015, -.029, -.001), LAYOUT_UNCLEAR);
	/* less is better */
	assert_int_equal(layout(.052, 0, -.006, .006), LAYOUT_GONE);
	assert_int_equal(layout(.052, .05, .04, .06), LAYOUT_STILL);
	assert_int_equal(layout(.052, .012, .006, .018), LAYOUT_PART);
	assert_int_equal(layout(.052, -.05, -.06, -.04), LAYOUT_GONE);
	/* exactly, as a counter gives it */
	assert_int_equal(layout(-.052, 0, 0, 0), LAYOUT_GONE);
	assert_int_equal(layout(-.052, -.052, -.052, -.052), LAYOUT_STILL);
	/* nothing to go by */
	assert_int_equal(layout(-.052, nan, nan, nan), LAYOUT_UNCLEAR);
	assert_int_equal(layout(-.052, 0, nan, 0), LAYOUT_UNCLEAR);
	assert_int_equal(layout(-.052, 0, -inf, inf), LAYOUT_UNCLEAR);
	assert_int_equal(layout(-.052, 0, .01, -.01), LAYOUT_UNCLEAR);
	assert_int_equal(layout(0, 0, 0, 0), LAYOUT_UNCLEAR);
	assert_int_equal(layout(nan, 0, 0, 0), LAYOUT_UNCLEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_a_test_runs),
		cmocka_unit_test(a_test_without_hints_is_left_alone_unless_all_is_far_away),
		cmocka_unit_test(set_up_code_is_not_run_by_a_loop_of_system_calls),
		cmocka_unit_test(what_is_no_kernel_tree_is_not_judged),
		cmocka_unit_test(a_function_of_the_profile_is_run_wherever_it_is),
		cmocka_unit_test(a_change_that_alignment_takes_away_was_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
