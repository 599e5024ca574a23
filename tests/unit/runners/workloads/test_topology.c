/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/topology.h"

#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <string.h>

static char root[] = "/tmp/kperfbot-topology.XXXXXX";

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	struct err e = { 0 };

	(void)state;
	return file_remove_tree(root, &e);
}

static void put(const char *machine, int cpu, const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/cpu%d/%s", root, machine, cpu, name);
	_cleanup_(freep) char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	struct err e = { 0 };

	assert_ok(file_mkdirs(dir, 0755, &e), &e);
	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
}

static struct cpu_mask mask_of(const char *cpus)
{
	struct cpu_mask m = { 0 };

	for (const char *p = cpus; *p; p++)
		cpu_mask_set(&m, *p - '0');
	return m;
}

static void read_machine(struct topology *t, const char *machine, const char *cpus)
{
	_cleanup_(freep) char *dir = xasprintf("%s/%s", root, machine);
	struct cpu_mask own = mask_of(cpus);

	topology_read(t, &own, dir);
}

static void expect_mask(const struct topology *t, unsigned nr, bool pu, const char *cpus)
{
	struct cpu_mask got = topology_mask(t, nr, pu), want = mask_of(cpus);

	if (memcmp(&got, &want, sizeof(got)) != 0)
		fail_msg("task %u: not on '%s' but on %lx", nr, cpus, got.bits[0]);
}

/* Packages take turns in the numbers, and the siblings of a core are four apart. */
static void make_two_packages(void)
{
	static const char *const cores[] = { "0,4\n", "1,5\n", "2,6\n", "3,7\n" };

	for (int cpu = 0; cpu < 8; cpu++) {
		put("two", cpu, "topology/package_cpus_list", cpu % 2 ? "1,3,5,7\n" : "0,2,4,6\n");
		put("two", cpu, "topology/core_cpus_list", cores[cpu % 4]);
	}
}

static void fills_a_package_before_the_next(void **state)
{
	struct topology t;

	(void)state;
	make_two_packages();
	read_machine(&t, "two", "01234567");
	assert_int_equal(t.n, 8);
	assert_int_equal(t.cores, 4);
	expect_mask(&t, 0, false, "04");
	expect_mask(&t, 1, false, "26");
	expect_mask(&t, 2, false, "15");
	expect_mask(&t, 3, false, "37");
	expect_mask(&t, 4, false, "04");
	expect_mask(&t, 0, true, "0");
	expect_mask(&t, 1, true, "4");
	expect_mask(&t, 2, true, "2");
	expect_mask(&t, 7, true, "7");
	expect_mask(&t, 8, true, "0");
	topology_done(&t);
}

static void keeps_to_the_mask_that_it_was_given(void **state)
{
	struct topology t;

	(void)state;
	make_two_packages();
	read_machine(&t, "two", "356");
	assert_int_equal(t.cores, 3);
	expect_mask(&t, 0, false, "6");
	expect_mask(&t, 1, false, "5");
	expect_mask(&t, 2, false, "3");
	expect_mask(&t, 3, false, "6");
	topology_done(&t);
}

static void fills_an_l3_cache_before_the_next_and_knows_the_old_names(void **state)
{
	struct topology t;

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		put("old", cpu, "topology/core_siblings_list", "0-3\n");
		put("old", cpu, "topology/thread_siblings_list",
		    (const char *[]){ "0\n", "1\n", "2\n", "3\n" }[cpu]);
		put("old", cpu, "cache/index3/shared_cpu_list", cpu % 3 ? "1-2\n" : "0,3\n");
	}
	read_machine(&t, "old", "0123");
	assert_int_equal(t.cores, 4);
	expect_mask(&t, 0, false, "0");
	expect_mask(&t, 1, false, "3");
	expect_mask(&t, 2, false, "1");
	expect_mask(&t, 3, false, "2");
	topology_done(&t);
}

static void without_sys_each_cpu_is_a_core(void **state)
{
	struct topology t;

	(void)state;
	put("junk", 1, "topology/core_cpus_list", "\n");
	put("junk", 2, "topology/core_cpus_list", "-7\n");
	read_machine(&t, "junk", "0123");
	assert_int_equal(t.cores, 4);
	for (unsigned i = 0; i < 8; i++)
		expect_mask(&t, i, false, (char[]){ (char)('0' + i % 4), 0 });
	topology_done(&t);
}

static void without_a_mask_nothing_is_pinned(void **state)
{
	struct topology t;

	(void)state;
	read_machine(&t, "none", "");
	assert_int_equal(t.n, 0);
	expect_mask(&t, 3, false, "");
	expect_mask(&t, 3, true, "");
	topology_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_a_package_before_the_next),
		cmocka_unit_test(keeps_to_the_mask_that_it_was_given),
		cmocka_unit_test(fills_an_l3_cache_before_the_next_and_knows_the_old_names),
		cmocka_unit_test(without_sys_each_cpu_is_a_core),
		cmocka_unit_test(without_a_mask_nothing_is_pinned),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
