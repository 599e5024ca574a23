/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/bisect.h"
#include "bisect/prior.h"
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <string.h>

static const char lists[] = "mm/memory.c\nmm/slub.c\ninclude/linux/mm.h\ntools/objtool/check.c\n"
			    "lib/kunit/test.c\narch/x86/mm/fault.c\nkernel/sched/fair.c\n"
			    "drivers/base/core.c\n";

/* Words of @text, ready to be asked. */
static struct prior_set set_of(const char *text)
{
	struct prior_set s = { 0 };

	prior_set_add(&s, text, strlen(text));
	prior_set_sort(&s);
	return s;
}

static enum prior_kind kind(const struct prior_context *c, const char *path)
{
	return prior_path_kind(c, path, false);
}

static void knows_what_is_no_kernel_by_its_name(void **state)
{
	const struct prior_context c = { .arch = "x86" };
	static const struct {
		const char *path;
		enum prior_kind want;
	} cases[] = {
		{ "Documentation/mm/slub.rst", PRIOR_DOCS },
		{ "MAINTAINERS", PRIOR_DOCS },
		{ ".mailmap", PRIOR_DOCS },
		{ "drivers/foo/README", PRIOR_DOCS },
		{ "mm/.gitignore", PRIOR_DOCS },
		{ "tools/testing/selftests/mm/x.c", PRIOR_TESTS },
		{ "samples/bpf/x.c", PRIOR_TESTS },
		{ "lib/test_xarray.c", PRIOR_TESTS },
		{ "kernel/resource_kunit.c", PRIOR_TESTS },
		{ "arch/arm64/mm/fault.c", PRIOR_OTHER_ARCH },
		{ "arch/x86_64/odd.c", PRIOR_OTHER_ARCH },
		{ "arch/x86/mm/fault.c", PRIOR_PLAIN },
		{ "arch/Kconfig", PRIOR_PLAIN },
		{ "tools/objtool/check.c", PRIOR_PLAIN },
		{ "Makefile", PRIOR_PLAIN },
		{ "mm/memory.c", PRIOR_PLAIN },
		{ "drivers/foo/Makefile", PRIOR_PLAIN },
		{ "drivers/foo/foo.c", PRIOR_PLAIN },
		{ "", PRIOR_PLAIN },
		{ "/", PRIOR_PLAIN },
		{ "arch/", PRIOR_PLAIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (kind(&c, cases[i].path) != cases[i].want)
			fail_msg("'%s': %s, not %s", cases[i].path,
				 prior_kind_name(kind(&c, cases[i].path)),
				 prior_kind_name(cases[i].want));
}

static void believes_the_lists_of_builds_more_than_names(void **state)
{
	struct prior_set built = set_of(lists);
	struct prior_set same = set_of("mm/slub\nmm/other\n");
	const struct prior_context c = { .arch = "x86", .built = &built, .same = &same };
	static const struct {
		const char *path;
		enum prior_kind want;
	} cases[] = {
		{ "mm/memory.c", PRIOR_PLAIN },
		{ "mm/slub.c", PRIOR_SAME_OBJECT },
		{ "mm/slub.h", PRIOR_NOT_BUILT },
		{ "mm/other.c", PRIOR_NOT_BUILT },
		{ "include/linux/mm.h", PRIOR_PLAIN },
		{ "include/linux/usb.h", PRIOR_NOT_BUILT },
		{ "drivers/foo/foo.c", PRIOR_NOT_BUILT },
		{ "drivers/foo/Makefile", PRIOR_QUIET_FOLDER },
		{ "drivers/foo/Kconfig.bar", PRIOR_QUIET_FOLDER },
		{ "drivers/Makefile", PRIOR_PLAIN },
		{ "drivers/base/Kconfig", PRIOR_PLAIN },
		{ "Makefile", PRIOR_PLAIN },
		{ "Kconfig", PRIOR_PLAIN },
		{ "arch/x86/kvm/Kconfig", PRIOR_PLAIN },
		{ "arch/x86/entry/syscalls/syscall_64.tbl", PRIOR_PLAIN },
		{ "scripts/Makefile.build", PRIOR_PLAIN },
		{ "tools/objtool/check.c", PRIOR_PLAIN },
		{ "lib/kunit/test.c", PRIOR_PLAIN },
		{ "lib/kunit/assert.c", PRIOR_TESTS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (kind(&c, cases[i].path) != cases[i].want)
			fail_msg("'%s': %s, not %s", cases[i].path,
				 prior_kind_name(kind(&c, cases[i].path)),
				 prior_kind_name(cases[i].want));
	prior_set_done(&built);
	prior_set_done(&same);
}

static void doubts_what_the_benchmark_does_not_run(void **state)
{
	const struct prior_context c = { .arch = "x86",
					 .suite = "will-it-scale",
					 .test = "page_fault1" };
	const struct prior_context other = { .arch = "x86", .suite = "nobody's", .test = NULL };

	(void)state;
	assert_int_equal(kind(&c, "mm/memory.c"), PRIOR_PLAIN);
	assert_int_equal(kind(&c, "fs/pipe.c"), PRIOR_OFF_PATH);
	assert_int_equal(kind(&c, "Documentation/x.rst"), PRIOR_DOCS);
	assert_int_equal(kind(&other, "fs/pipe.c"), PRIOR_PLAIN);
	assert_int_equal(prior_path_kind(&c, "fs/pipe.c", true), PRIOR_COMMENTS);
}

static double weigh(const struct prior_commit *commit, enum prior_kind *ret)
{
	const struct prior_context c = { .arch = "x86" };

	return prior_weight(&c, commit, ret);
}

static void goes_by_the_path_that_can_matter_most(void **state)
{
	const char *paths[] = { "Documentation/a", "arch/arm/b.c", "mm/memory.c" };
	const bool same_code[] = { false, false, true };
	enum prior_kind k;

	(void)state;
	assert_float_equal(weigh(&(struct prior_commit){ .paths = paths, .n_paths = 1 }, &k), 0.01,
			   0);
	assert_int_equal(k, PRIOR_DOCS);
	assert_float_equal(weigh(&(struct prior_commit){ .paths = paths, .n_paths = 2 }, &k), 0.01,
			   0);
	assert_int_equal(k, PRIOR_OTHER_ARCH);
	assert_float_equal(weigh(&(struct prior_commit){ .paths = paths, .n_paths = 3 }, &k), 1, 0);
	assert_int_equal(k, PRIOR_PLAIN);
	(void)weigh(&(struct prior_commit){ .paths = paths, .n_paths = 3, .same_code = same_code },
		    &k);
	assert_int_equal(k, PRIOR_COMMENTS);
	/* What was not read may matter. */
	assert_float_equal(
		weigh(&(struct prior_commit){ .paths = paths, .n_paths = 1, .more = true }, NULL),
		1, 0);
	assert_float_equal(
		weigh(&(struct prior_commit){ .paths = paths, .n_paths = 3, .merge = true }, NULL),
		PRIOR_MERGE_WEIGHT, 0);
	assert_float_equal(
		weigh(&(struct prior_commit){ .paths = paths, .n_paths = 3, .same_binary = true },
		      NULL),
		0.005, 0);
	assert_float_equal(weigh(&(struct prior_commit){ 0 }, &k), 0.005, 0);
}

static void never_weighs_nothing(void **state)
{
	(void)state;
	for (int k = 0; k < PRIOR_KINDS; k++) {
		assert_true(prior_kind_weight(k) >= 0.005);
		assert_true(prior_kind_weight(k) <= 1);
		assert_true(k == 0 || prior_kind_weight(k) <= prior_kind_weight(k - 1));
		assert_true(strlen(prior_kind_name(k)) > 3);
	}
}

static void finds_what_is_odd_about_a_culprit(void **state)
{
	struct prior_set built = set_of(lists);
	const struct prior_context c = { .arch = "x86", .built = &built };
	const char *paths[] = { "Documentation/a", "arch/arm/b.c", "mm/memory.c", "mm/no.c" };
	const bool same_code[] = { false, false, true, false };
	struct prior_commit m = { .paths = paths, .same_code = same_code, .n_paths = 1 };

	(void)state;
	assert_int_equal(prior_suspicions(&c, &m), PRIOR_SUSPECT_DOCS);
	m.n_paths = 3;
	assert_int_equal(prior_suspicions(&c, &m),
			 PRIOR_SUSPECT_DOCS | PRIOR_SUSPECT_ARCH | PRIOR_SUSPECT_COMMENTS);
	m.n_paths = 4;
	m.merge = true;
	assert_int_equal(prior_suspicions(&c, &m),
			 PRIOR_SUSPECT_DOCS | PRIOR_SUSPECT_ARCH | PRIOR_SUSPECT_COMMENTS |
				 PRIOR_SUSPECT_NOT_BUILT | PRIOR_SUSPECT_MERGE);
	m.same_code = NULL;
	assert_int_equal(prior_suspicions(&c, &m), PRIOR_SUSPECT_MERGE);
	m.same_binary = true;
	assert_int_equal(prior_suspicions(&c, &m), PRIOR_SUSPECT_MERGE | PRIOR_SUSPECT_BINARY);
	m = (struct prior_commit){ .paths = paths, .n_paths = 1, .more = true };
	assert_int_equal(prior_suspicions(&c, &m), 0);
	m = (struct prior_commit){ .n_paths = 0 };
	assert_int_equal(prior_suspicions(&c, &m), PRIOR_SUSPECT_BINARY);
	assert_string_equal(prior_suspicion_name(PRIOR_SUSPECT_COMMENTS), "comment-only");
	prior_set_done(&built);
}

static bool same(const char *path, const char *a, const char *b)
{
	bool r = prior_same_code(path, a, strlen(a), b, strlen(b));

	assert_int_equal(prior_same_code(path, b, strlen(b), a, strlen(a)), r);
	return r;
}

static void sees_that_only_comments_change(void **state)
{
	static const struct {
		const char *a, *b;
		bool want;
	} cases[] = {
		{ "int a;\nint b;\n", "int a;\n/* why\n * so\n */\nint b;\n", true },
		{ "int a; /* x */\n", "int a; // y\n", true },
		{ "int a;\n", "// only \\\nint b;\nint a;\n", true },
		{ "int a;\n", "int a;\n\n\n", true },
		{ "int a;", "int  a;", true },
		{ "int a;", "inta;", false },
		{ "int a;", "int/* */a;", true },
		{ "a = b/c;", "a = b//c;", false },
		{ "s = \"/* x */\";", "s = \"/* y */\";", false },
		{ "s = \"a\\\"/*\"; int b; // */", "s = \"a\\\"/*\"; int c; // */", false },
		{ "c = '\"'; int a; /* \" */", "c = '\"'; int b; /* \" */", false },
		{ "c = '\\''; /* a */ d();", "c = '\\''; /* b */ d();", true },
		{ "s = \"a  b\";", "s = \"a b\";", false },
		{ "#define A 1\nint a;", "#define A 1 int a;", false },
		{ "#define A /* x\n */ 1\nint a;", "#define A 1\nint a;", true },
		{ "#define A \\\n 1\n", "#define A 1\n", false },
		{ "int a; /* not closed", "int a; /* nor this", true },
		{ "int a; /* closed */ int b;", "int a; /* closed * int b;", false },
		{ "/", "//", false },
		{ "", "/**/", true },
		{ "", "x", false },
		{ "\"", "\"", true },
		{ "\"\\", "\"\\", true },
		{ "// \\", "", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (same("a.c", cases[i].a, cases[i].b) != cases[i].want)
			fail_msg("'%s' and '%s'", cases[i].a, cases[i].b);
	assert_false(same("a.py", "#a\n", "#b\n"));
	assert_true(same("a.py", "a", "a") == false);
	assert_true(prior_same_code("a.h", "x\0/**/y", 7, "x\0 y", 4));
	assert_false(prior_same_code("a.h", "x\0y", 3, "x\0z", 3));
}

static void sees_that_only_help_changes(void **state)
{
	static const char a[] = "config A\n\tbool \"a\"\n\thelp\n\t  Says this.\n\n\t  And that.\n"
				"\nconfig B\n\tbool\n";
	static const char b[] = "# new\nconfig A\n\tbool \"a\"\n\thelp\n\t  Says more, and\n"
				"\t  default y is text.\n\t    deeper\nconfig B\n\tbool\n";
	static const char c[] = "config A\n\tbool \"a\"\n\thelp\n\t  Says this.\n\tdefault y\n"
				"config B\n\tbool\n";

	(void)state;
	assert_true(same("mm/Kconfig", a, b));
	assert_true(same("mm/Kconfig.debug", a, b));
	assert_false(same("mm/Kconfig", a, c));
	assert_false(same("mm/Makefile", a, b));
	/* A text at the margin: no telling where it ends. */
	assert_false(same("Kconfig", "config A\nhelp\nx\n", "config A\nhelp\ny\n"));
	assert_true(same("Kconfig", "config A\n\thelp\n", "config A\n\thelp"));
	assert_false(same("Kconfig", "config A\n\tbool\n", "config A\n\ttristate\n"));
}

static void compares_builds_object_by_object(void **state)
{
	static const char a[] = "mm/a.o 11\nmm/b.o 22\nmm/c.o 33\nmm/d.ko 44\nmm/e.o\n";
	static const char b[] = "mm/a.o 11\nmm/b.o 23\nmm/bb.o 1\nmm/c.o 33\nmm/d.ko 44\nmm/e.o\n";
	struct prior_set s;

	(void)state;
	assert_false(prior_same_objects(a, strlen(a), b, strlen(b), &s));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.items[0], "mm/a");
	assert_string_equal(s.items[1], "mm/c");
	prior_set_done(&s);
	assert_true(prior_same_objects(a, strlen(a), a, strlen(a), &s));
	prior_set_done(&s);
	assert_false(prior_same_objects("", 0, "", 0, &s));
	assert_int_equal(s.n, 0);
	assert_false(prior_same_objects(a, 12, b, 8, &s));
	assert_int_equal(s.n, 0);
}

static void reads_lists_of_any_bytes(void **state)
{
	static const char text[] = "b 1\n\n a\nb 2\nc\0d\nlast";
	struct prior_set s = { 0 };

	(void)state;
	prior_set_sort(&s);
	assert_false(prior_set_has(&s, "b"));
	assert_false(prior_set_below(&s, "b/", 2));
	prior_set_add(&s, text, sizeof(text) - 1);
	prior_set_sort(&s);
	assert_int_equal(s.n, 3);
	assert_true(prior_set_has(&s, "b"));
	assert_true(prior_set_has(&s, "c"));
	assert_true(prior_set_has(&s, "last"));
	assert_false(prior_set_has(&s, "las"));
	assert_false(prior_set_has(&s, "lastly"));
	assert_false(prior_set_has(&s, ""));
	prior_set_add(&s, "x/y/z 1\n", 8);
	prior_set_sort(&s);
	assert_true(prior_set_below(&s, "x/y/", 4));
	assert_true(prior_set_below(&s, "x/ybad", 3));
	assert_false(prior_set_below(&s, "x/z/", 4));
	prior_set_done(&s);
}

/* The range of 256 commits of which fifteen in sixteen hardly count; @culprit is the first bad one. */
static int search(int culprit, bool weights, double *ret_minutes)
{
	struct bisect_graph g = { 0 };
	struct bisect_params p = bisect_params_default();
	struct bisect_step step = { 0 };
	struct bisect_state s;
	unsigned noise = 12345;
	struct err e = { 0 };
	int named = -1;
	int boot = 0;

	p.step = 0.05;
	*ret_minutes = 0;
	assert_ok(bisect_graph_add_line(&g, 256, &e), &e);
	assert_ok(bisect_graph_prepare(&g, &e), &e);
	assert_ok(bisect_init(&s, &g, &p, &e), &e);
	for (int i = 0; i < 256 && weights; i++)
		if (i % 16)
			assert_ok(bisect_set_prior(&s, i, i % 2 ? 0.005 : 0.01, &e), &e);
	for (int n = 0; n < 200 && named < 0; n++) {
		assert_ok(bisect_next(&s, &step, &e), &e);
		if (step.action != BISECT_MEASURE) {
			assert_int_equal(step.action, BISECT_DONE);
			named = step.commit;
		}
		*ret_minutes += step.action == BISECT_MEASURE ? step.minutes : 0;
		for (int i = 0; step.action == BISECT_MEASURE && i < step.boots * step.runs; i++) {
			double y = step.commit >= culprit ? 0.05 : 0;

			/* Uniform, with the standard deviation of the model. */
			noise = noise * 1103515245u + 12345u;
			y += ((noise >> 16) % 1000 / 999. - 0.5) * 0.034;
			assert_ok(bisect_add_run(&s, step.commit, boot + i / step.runs, y, &e), &e);
		}
		boot += step.boots;
		bisect_step_done(&step);
	}
	bisect_done(&s);
	bisect_graph_done(&g);
	return named;
}

static void finds_a_culprit_that_was_thought_not_to_matter(void **state)
{
	double minutes;

	(void)state;
	assert_int_equal(search(101, true, &minutes), 101); /* 0.005 */
	assert_int_equal(search(102, true, &minutes), 102); /* 0.01 */
	assert_int_equal(search(0, true, &minutes), 0);
	assert_int_equal(search(253, true, &minutes), 253);
}

static void takes_less_time_where_most_commits_cannot_matter(void **state)
{
	double with = 0;
	double without = 0;

	(void)state;
	for (int c = 32; c < 256; c += 64) {
		double m;

		assert_int_equal(search(c, true, &m), c);
		with += m;
		assert_int_equal(search(c, false, &m), c);
		without += m;
	}
	if (with >= 0.85 * without)
		fail_msg("%.0f minutes with weights, %.0f without", with, without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_what_is_no_kernel_by_its_name),
		cmocka_unit_test(believes_the_lists_of_builds_more_than_names),
		cmocka_unit_test(doubts_what_the_benchmark_does_not_run),
		cmocka_unit_test(goes_by_the_path_that_can_matter_most),
		cmocka_unit_test(never_weighs_nothing),
		cmocka_unit_test(finds_what_is_odd_about_a_culprit),
		cmocka_unit_test(sees_that_only_comments_change),
		cmocka_unit_test(sees_that_only_help_changes),
		cmocka_unit_test(compares_builds_object_by_object),
		cmocka_unit_test(reads_lists_of_any_bytes),
		cmocka_unit_test(finds_a_culprit_that_was_thought_not_to_matter),
		cmocka_unit_test(takes_less_time_where_most_commits_cannot_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
