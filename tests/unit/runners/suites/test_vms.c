/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cases of vm-scalability: their plans, what they need, and the lines that only ours have. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/suites/vms.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <string.h>

#define GIB UINT64_C(1073741824)

static const struct suite_machine machine = {
	.cpus = 4, .nodes = 1, .mem_total_bytes = 4 * GIB, .mem_available_bytes = 3 * GIB
};

static void add_command(struct strbuf *b, const struct suite_command *c)
{
	static const char *const phases[] = {
		[PHASE_RUN] = "", [PHASE_SETUP] = "+ ", [PHASE_CLEANUP] = "- "
	};

	strbuf_addf(b, "%s", phases[c->phase]);
	if (c->copies != 1)
		strbuf_addf(b, "%ux ", c->copies);
	for (char **w = c->argv; *w; w++)
		strbuf_addf(b, "%s%s", w == c->argv ? "" : " ", *w);
	strbuf_addf(b, "\n");
}

static void make_plan(const char *test, const char *params, const struct suite_machine *m,
		      struct suite_plan *plan)
{
	struct output_params p;
	struct err e = { 0 };

	output_params_init(&p, params);
	assert_ok(suite_plan_make(&suite_vms, test, p.items, p.n, m, plan, &e), &e);
	assert_true(plan->deadline_s > 10);
}

/* @want: a line a command; "+ " set-up, "- " clean-up, "Nx " copies. */
static void expect_plan_on(const struct suite_machine *m, const char *test, const char *params,
			   const char *want)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_plan plan;

	make_plan(test, params, m, &plan);
	for (size_t i = 0; i < plan.n; i++)
		add_command(&b, &plan.commands[i]);
	assert_string_equal(strbuf_str(&b), want);
	suite_plan_done(&plan);
}

static void expect_plan(const char *test, const char *params, const char *want)
{
	expect_plan_on(&machine, test, params, want);
}

static void expect_refusal_on(const struct suite_machine *m, const char *test, const char *params,
			      int code, const char *word)
{
	struct suite_plan plan = { .n = 77 };
	struct output_params p;
	struct err e = { 0 };

	output_params_init(&p, params);
	assert_err(suite_plan_make(&suite_vms, test, p.items, p.n, m, &plan, &e), code, &e);
	assert_int_equal(plan.n, 77);
	if (!strstr(e.msg, word))
		fail_msg("%s: '%s' does not say '%s'", test, e.msg, word);
}

static void plans_anonymous_memory(void **state)
{
	(void)state;
	expect_plan("anon-w-seq", "nr_task=2 unit_size=256M runtime=3s",
		    "case anon-w-seq\nusemem --runtime 3 -n 2 134217728\n");
	expect_plan("anon-w-seq-mt", "", "case anon-w-seq-mt\nusemem -t 4 536870912\n");
	expect_plan("anon-wx-seq-mt", "nr_task=2 unit_size=64M",
		    "case anon-wx-seq-mt\nusemem --prealloc -t 2 67108864\n");
	expect_plan("anon-cow-seq", "nr_task=3 unit_size=64M",
		    "case anon-cow-seq\nusemem --prealloc --prefault -n 3 16777216\n");
	expect_plan("anon-r-rand-mt", "nr_task=1",
		    "case anon-r-rand-mt\n"
		    "usemem --runtime 300 --readonly --random -t 1 824633720832\n");
	expect_plan("mlock", "nr_task=1", "case mlock\nusemem --mlock -n 1 1073741824\n");
}

static void plans_huge_pages_with_what_they_need(void **state)
{
	(void)state;
	expect_plan("anon-w-rand-hugetlb", "nr_task=2 unit_size=64M",
		    "+ set-sysctl --save sysctls.saved --at-least vm.nr_overcommit_hugepages 35\n"
		    "case anon-w-rand-hugetlb\nusemem --random -O -U -n 2 33554432\n"
		    "- restore-sysctls sysctls.saved\n");
	/* Whole huge pages. */
	expect_plan("anon-cow-seq-hugetlb", "nr_task=2 unit_size=64M",
		    "+ set-sysctl --save sysctls.saved --at-least vm.nr_overcommit_hugepages 33\n"
		    "case anon-cow-seq-hugetlb\nusemem --prealloc --prefault -O -U -n 2 20971520\n"
		    "- restore-sysctls sysctls.saved\n");
}

static void plans_files_on_disk(void **state)
{
	(void)state;
	expect_plan("mmap-pread-rand", "nr_task=2 runtime=1",
		    "+ need-disk . 0\n+ make-file file 412316860416\n"
		    "case mmap-pread-rand\n"
		    "usemem --runtime 1 --readonly --random -f file -n 2 412316860416\n"
		    "- remove-files file\n");
	expect_plan("lru-file-readtwice", "nr_task=2 runtime=1",
		    "+ need-disk . 0\n+ 2x make-file file-{i} 412316860416\n"
		    "case lru-file-readtwice\n2x read-file --runtime 1 --readers 2 file-{i}\n"
		    "- 2x remove-files file-{i}\n");
	expect_plan("msync", "nr_task=2",
		    "+ need-disk . 2147483648\n+ 2x make-file file-{i} 4294967296\n"
		    "case msync\n2x usemem -S -F --prealloc --open-rw -f file-{i} 1073741824\n"
		    "- 2x remove-files file-{i}\n");
	expect_plan("truncate-seq", "nr_task=2",
		    "+ need-disk . 0\ncase truncate-seq\ntruncate-files --seq 2 2147483648\n");
}

static void plans_files_in_tmpfs_and_takes_them_away(void **state)
{
	(void)state;
	expect_plan("shm-pread-rand-mt", "nr_task=2 shm_size=64M unit_size=16M",
		    "+ mount-tmpfs shm 67108864\n+ make-file shm/file 67108864\n"
		    "case shm-pread-rand-mt\n"
		    "usemem --readonly --random -f shm/file -t 2 16777216\n- unmount shm\n");
	expect_plan("lru-shm", "nr_task=2 shm_size=64M",
		    "+ mount-tmpfs shm 67108864\n+ 2x make-file shm/file-{i} 67108864\n"
		    "case lru-shm\n2x usemem --readonly -f shm/file-{i} 16777216\n"
		    "- unmount shm\n");
}

static void cases_without_a_rate_are_timed_as_a_whole(void **state)
{
	(void)state;
	expect_plan("mincore", "nr_task=2 unit_size=64M",
		    "case mincore usemem -N --prealloc -n 2 33554432\n");
	expect_plan("posix-fadvise", "nr_task=2",
		    "+ need-disk . 0\n+ make-file file 2147483648\n"
		    "case posix-fadvise usemem -D -n 2 file\n- remove-files file\n");
	expect_plan("fork", "",
		    "+ set-sysctl --save sysctls.saved --at-least kernel.threads-max 1048576\n"
		    "+ set-sysctl --save sysctls.saved --at-least kernel.pid_max 131072\n"
		    "case fork usemem -n 20000 0\n"
		    "- restore-sysctls sysctls.saved\n");
	expect_plan("ksm", "nr_task=2 runtime=5",
		    "+ set-sysctl --save sysctls.saved /sys/kernel/mm/ksm/run 1\n"
		    "case ksm ksm 2 1073741824 5\n"
		    "- restore-sysctls sysctls.saved\n");
	assert_string_equal(suite_headline(&suite_vms, "fork", NULL, 0),
			    "vm-scalability.case_time");
	assert_string_equal(suite_headline(&suite_vms, "migrate", NULL, 0),
			    "vm-scalability.migrate_mbps");
}

static void small_allocs_keep_their_mappings_in_a_third_of_the_memory(void **state)
{
	struct suite_plan plan;
	uint64_t bytes;

	(void)state;
	make_plan("small-allocs", "nr_task=1", &machine, &plan);
	bytes = strtoull(plan.commands[plan.n - 2].argv[8], NULL, 10);
	assert_true(bytes / 40960 <= 4 * GIB / 3 / 4096 * 21);
	assert_true(bytes / 40960 > 4 * GIB / 3 / 4096 * 21 / 2);
	suite_plan_done(&plan);
}

static void starts_a_case_size_by_unit_times(void **state)
{
	struct suite_machine two = machine;
	struct suite_plan plan;

	(void)state;
	make_plan("anon-w-seq", "size=8G unit_size=1G runtime=10", &machine, &plan);
	assert_int_equal(plan.repeat_max, 8);
	assert_true(plan.repeat_s == 10);
	suite_plan_done(&plan);
	two.nodes = 2;
	make_plan("anon-w-seq", "size=8G unit_size=1G", &two, &plan);
	assert_int_equal(plan.repeat_max, 16);
	assert_true(plan.repeat_s == 300);
	suite_plan_done(&plan);
	/* Half the memory is the unit that counts. */
	make_plan("anon-r-seq", "size=8G", &machine, &plan);
	assert_int_equal(plan.repeat_max, 4);
	suite_plan_done(&plan);
	make_plan("lru-shm", "size=8G shm_size=1G", &machine, &plan);
	assert_int_equal(plan.repeat_max, 16);
	suite_plan_done(&plan);
	make_plan("shm-pread-seq", "size=8G shm_size=1G", &machine, &plan);
	assert_int_equal(plan.repeat_max, 4);
	suite_plan_done(&plan);
	make_plan("anon-w-seq", "size=1M", &machine, &plan);
	assert_int_equal(plan.repeat_max, 0);
	suite_plan_done(&plan);
}

static void says_what_the_machine_lacks(void **state)
{
	struct suite_machine swap = machine, nodes = machine, empty = { .cpus = 1 };

	(void)state;
	expect_refusal_on(&machine, "swap-w-seq", "", ERR_NOSPACE, "0 MiB");
	expect_refusal_on(&machine, "swapin", "", ERR_NOSPACE, "swap");
	expect_refusal_on(&machine, "migrate", "", ERR_NOSPACE, "has 1");
	expect_refusal_on(&machine, "mbind", "", ERR_NOSPACE, "2 NUMA nodes");
	expect_refusal_on(&machine, "anon-w-seq", "unit_size=4G", ERR_NOSPACE, "3072 MiB free");
	expect_refusal_on(&machine, "shm-pread-seq", "shm_size=1G unit_size=2G", ERR_NOSPACE,
			  "1024 MiB");
	expect_refusal_on(&machine, "lru-shm", "shm_size=16G", ERR_NOSPACE, "8192 MiB");
	expect_refusal_on(&machine, "anon-w-seq", "nr_task=4 unit_size=8K", ERR_NOSPACE, "4096");
	expect_refusal_on(&machine, "anon-w-seq-hugetlb", "nr_task=4 unit_size=4M", ERR_NOSPACE,
			  "2097152");
	expect_refusal_on(&machine, "anon-r-seq", "unit_size=1M", ERR_INVAL, "from the machine");
	expect_refusal_on(&machine, "direct-write", "", ERR_NOENT, "anon-w-seq");
	expect_refusal_on(&machine, "000-anon", "", ERR_NOENT, "anon-w-seq");
	expect_refusal_on(&empty, "anon-r-seq", "nr_task=1", ERR_NOSPACE, "0 MiB");
	swap.swap_bytes = 2 * GIB;
	expect_plan_on(&swap, "swap-w-rand", "nr_task=1",
		       "case swap-w-rand\nusemem --random -n 1 4026531840\n");
	expect_refusal_on(&swap, "swap-w-rand", "unit_size=6G", ERR_NOSPACE, "swap included");
	expect_plan_on(&swap, "swapin", "nr_task=2 unit_size=1G",
		       "case swapin\nswapin 2 536870912 1610612736\n");
	nodes.nodes = 2;
	expect_plan_on(&nodes, "migrate", "runtime=2",
		       "case migrate\nmigrate-pages 1073741824 2\n");
	expect_plan_on(&nodes, "mbind", "", "case mbind move-pages --mbind 1073741824\n");
}

static void refuses_numbers_that_overflow(void **state)
{
	struct suite_machine huge = { .cpus = 1,
				      .nodes = 1024,
				      .mem_total_bytes = UINT64_MAX,
				      .mem_available_bytes = UINT64_MAX,
				      .swap_bytes = 0 };

	(void)state;
	expect_refusal_on(&machine, "lru-shm", "shm_size=7E", ERR_PARSE, "7E");
	expect_refusal_on(&machine, "anon-cow-seq", "unit_size=4194304T", ERR_NOSPACE, "3072");
	for (size_t i = 0; vms_case_at(i); i++) {
		struct suite_param p = { (char[]){ "nr_task" }, (char[]){ "1048576" } };
		struct suite_plan plan;
		struct err e = { 0 };

		if (suite_plan_make(&suite_vms, vms_case_at(i)->name, &p, 1, &huge, &plan, &e) == 0)
			suite_plan_done(&plan);
	}
}

/* Whoever runs the list as it stands does the right thing too. */
static void assert_in_order(const struct suite_plan *plan)
{
	static const int order[] = { [PHASE_SETUP] = 0, [PHASE_RUN] = 1, [PHASE_CLEANUP] = 2 };

	for (size_t i = 1; i < plan->n; i++)
		assert_true(order[plan->commands[i - 1].phase] <= order[plan->commands[i].phase]);
}

static void every_case_has_a_sentence_and_a_plan_or_a_reason(void **state)
{
	struct suite_machine large = { .cpus = 2,
				       .nodes = 2,
				       .mem_total_bytes = 64 * GIB,
				       .mem_available_bytes = 63 * GIB,
				       .swap_bytes = 64 * GIB };
	size_t n = 0;

	(void)state;
	for (; suite_test(&suite_vms, n); n++) {
		const struct vms_case *c = vms_case_find(suite_test(&suite_vms, n));
		struct suite_plan plan;

		assert_ptr_equal(c, vms_case_at(n));
		assert_true(strlen(suite_test_about(&suite_vms, n)) > 20);
		make_plan(c->name, "nr_task=2", &large, &plan);
		assert_in_order(&plan);
		suite_plan_done(&plan);
	}
	assert_int_equal(n, 67);
}

static void plans_the_operators_own_suite(void **state)
{
	struct suite_machine m = machine;
	struct suite_plan plan;

	(void)state;
	m.path = "/opt/vm-scalability";
	expect_plan_on(&m, "lru-file-readonce", "nr_task=2 runtime=7 fs=ext4 shm_size=1G",
		       "+ mount-tmpfs /tmp/vm-scalability-tmp 4294967296\n"
		       "+ set-sysctl --save /tmp/vm-scalability-tmp/sysctls.saved "
		       "vm.overcommit_memory 1\n"
		       "+ set-sysctl --save /tmp/vm-scalability-tmp/sysctls.saved "
		       "vm.max_map_count 1073741824\n"
		       "+ set-sysctl --save /tmp/vm-scalability-tmp/sysctls.saved "
		       "kernel.threads-max 1048576\n"
		       "+ make-file /tmp/vm-scalability-tmp/sparse.img 4294967296\n"
		       "+ /sbin/mkfs.ext4 -q -F /tmp/vm-scalability-tmp/sparse.img\n"
		       "+ make-folder /tmp/vm-scalability-tmp/sparse\n"
		       "+ /bin/mount -o loop /tmp/vm-scalability-tmp/sparse.img "
		       "/tmp/vm-scalability-tmp/sparse\n"
		       "case lru-file-readonce ./case-lru-file-readonce\n"
		       "- unmount /tmp/vm-scalability-tmp/sparse\n"
		       "- restore-sysctls /tmp/vm-scalability-tmp/sysctls.saved\n"
		       "- unmount /tmp/vm-scalability-tmp\n");
	make_plan("anon-w-seq", "nr_task=2 unit_size=1G", &m, &plan);
	assert_string_equal(plan.dir, m.path);
	assert_string_equal(plan.env[0], "nr_task=2");
	assert_string_equal(plan.env[1], "runtime=300");
	assert_string_equal(plan.env[2], "unit_size=1073741824");
	assert_string_equal(plan.env[3], "shm_size=4294967296");
	assert_string_equal(plan.env[4], "SPARSE_ROOT=/tmp/vm-scalability-tmp/sparse");
	assert_null(plan.env[5]);
	suite_plan_done(&plan);
}

static void parse(const char *test, const char *text, struct suite_output *out)
{
	struct suite_param tasks = { (char[]){ "tasks" }, (char[]){ "2" } };
	struct err e = { 0 };

	assert_ok(suite_parse(&suite_vms, test, text, strlen(text), &tasks, 1, out, &e), &e);
}

static void reads_the_time_of_a_case(void **state)
{
	const struct suite_metric *m;
	struct suite_output out;

	(void)state;
	parse("fork",
	      "./case-fork\n0 usecs to free memory\ncase fork took 3000000 usecs\n"
	      "./case-fork\ncase fork took 5000000 usecs\n",
	      &out);
	assert_int_equal(out.problems_n, 0);
	m = suite_metric_find(&out, "vm-scalability.case_time");
	assert_non_null(m);
	assert_true(m->headline && m->value == 4);
	suite_output_done(&out);
	parse("fork", "./case-fork\ncase fork took 0 usecs\n", &out);
	assert_null(suite_metric_find(&out, "vm-scalability.case_time"));
	assert_true(out.problems_n > 0);
	suite_output_done(&out);
	parse("fork", "./case-fork\ncase fork took\n", &out);
	assert_null(suite_metric_find(&out, "vm-scalability.case_time"));
	suite_output_done(&out);
	parse("fork", "./case-fork\n", &out);
	assert_int_equal(out.n, 0);
	suite_output_done(&out);
}

static void the_first_access_is_no_rate_of_its_own(void **state)
{
	struct suite_output out;

	(void)state;
	parse("anon-w-seq",
	      "./case-anon-w-seq\n"
	      "first access 4194304 bytes / 423 usecs = 9683215 KB/s\n"
	      "4718592 bytes / 5869 usecs = 785142 KB/s\n"
	      "4718592 bytes / 5869 usecs = 785142 KB/s\n",
	      &out);
	assert_int_equal(out.problems_n, 0);
	assert_true(suite_metric_find(&out, "vm-scalability.throughput")->value == 2 * 785142);
	suite_output_done(&out);
}

static void lines_of_the_set_up_are_not_counted_as_tasks(void **state)
{
	struct suite_output out;

	(void)state;
	parse("migrate",
	      "./case-migrate\n301989888 bytes / 327248 usecs = 901188 KB/s\n"
	      "237 * 268435456 bytes migrated, 2008556 usecs, 31674 MB/s\n",
	      &out);
	assert_int_equal(out.problems_n, 0);
	assert_true(suite_metric_find(&out, "vm-scalability.migrate_mbps")->value == 31674);
	suite_output_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_anonymous_memory),
		cmocka_unit_test(plans_huge_pages_with_what_they_need),
		cmocka_unit_test(plans_files_on_disk),
		cmocka_unit_test(plans_files_in_tmpfs_and_takes_them_away),
		cmocka_unit_test(cases_without_a_rate_are_timed_as_a_whole),
		cmocka_unit_test(small_allocs_keep_their_mappings_in_a_third_of_the_memory),
		cmocka_unit_test(starts_a_case_size_by_unit_times),
		cmocka_unit_test(says_what_the_machine_lacks),
		cmocka_unit_test(refuses_numbers_that_overflow),
		cmocka_unit_test(every_case_has_a_sentence_and_a_plan_or_a_reason),
		cmocka_unit_test(plans_the_operators_own_suite),
		cmocka_unit_test(reads_the_time_of_a_case),
		cmocka_unit_test(the_first_access_is_no_rate_of_its_own),
		cmocka_unit_test(lines_of_the_set_up_are_not_counted_as_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
