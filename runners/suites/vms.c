/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vm-scalability: the cases as a table, and plans. */
#include "runners/suites/vms.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <string.h>

/* What LKP takes where the job names no runtime. */
#define DEFAULT_RUNTIME 300
#define DEFAULT_WAIT	3600.0
#define KSM_SLEEP	60
#define HUGE_PAGE	(UINT64_C(2) << 20)
#define MAPPINGS_MAX	(1u << 30)
#define SAVED		"sysctls.saved"
#define MEMCG		"kperfbot-lru"

static const char *const file_systems[] = { "xfs", "ext4", "btrfs", NULL };
static const struct suite_param_def params_known[] = {
	{ "nr_task", PARAM_TASKS, NULL, "100%", "tasks, or a share of the CPUs" },
	{ "runtime", PARAM_SECONDS, NULL, "300s where it reads, else until the work is done",
	  "when to stop" },
	{ "unit_size", PARAM_SIZE, NULL, "a share of the memory", "bytes that one pass works on" },
	{ "size", PARAM_SIZE, NULL, "one pass",
	  "bytes in all, for each NUMA node: the case is started size / unit_size times" },
	{ "shm_size", PARAM_SIZE, NULL, "all memory", "size of the tmpfs of the shm cases" },
	{ "fs", PARAM_CHOICE, file_systems, "xfs",
	  "file system of the sparse files of the upstream suite" },
	{ NULL, PARAM_CHOICE, NULL, NULL, NULL },
};

static const struct suite_metric_info metrics[] = {
	{ "vm-scalability.throughput", "KB/s", "Bytes touched per second by all tasks.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "vm-scalability.median", "KB/s", "Bytes touched per second by the median task.",
	  BETTER_HIGHER, KIND_RATE, false },
	{ "vm-scalability.free_time", "s", "Time to unmap the memory.", BETTER_LOWER, KIND_TIME,
	  false },
	{ "vm-scalability.stddev%", "%", "Spread of the tasks' rates.", BETTER_LOWER, KIND_SHARE,
	  false },
	{ "vm-scalability.workload", "KiB", "Bytes touched in all.", BETTER_NONE, KIND_COUNT,
	  false },
	{ "vm-scalability.migrate_mbps", "MB/s", "Bytes moved between nodes per second.",
	  BETTER_HIGHER, KIND_RATE, true },
	{ "vm-scalability.throughput_fault", "KB/s", "Bytes read into memory per second.",
	  BETTER_HIGHER, KIND_RATE, false },
	{ "vm-scalability.median_fault", "KB/s", "The same for the median task.", BETTER_HIGHER,
	  KIND_RATE, false },
	{ "vm-scalability.stddev_fault%", "%", "Spread of the rates of reading in.", BETTER_LOWER,
	  KIND_SHARE, false },
	{ "vm-scalability.median_stddev%", "%", "Spread of the medians of the runs.", BETTER_LOWER,
	  KIND_SHARE, false },
	{ "vm-scalability.case_time", "s", "Time that a case without a rate took.", BETTER_LOWER,
	  KIND_TIME, true },
	{ NULL, NULL, NULL, BETTER_NONE, KIND_RATE, false },
};

static const char *vms_test_name(size_t i)
{
	const struct vms_case *c = vms_case_at(i);

	return c ? c->name : NULL;
}

static const char *vms_test_about(size_t i)
{
	return vms_case_at(i)->about;
}

/* What a plan of ours is made from. */
struct making {
	const struct vms_case *c;
	const struct vms_sizes *z;
	struct suite_plan *plan;
	unsigned runtime;
	unsigned long long bytes;
};

/* Values of the machine that are changed, and put back by the clean-up. */
static void plan_sysctls(const struct making *k)
{
	const struct vms_case *c = k->c;
	struct suite_plan *plan = k->plan;

	if (c->needs & VMS_NEEDS_HUGETLB && c->shape != SHAPE_HUGETLB)
		suite_plan_add_phase(
			plan, PHASE_SETUP, 1,
			"set-sysctl --save " SAVED " --at-least vm.nr_overcommit_hugepages %llu",
			(unsigned long long)(vms_filled(c, k->bytes, k->z) / HUGE_PAGE) +
				k->z->tasks + 1);
	/* Sets it to 0 in the end, which need not be what it was. */
	if (c->shape == SHAPE_HUGETLB)
		suite_plan_add_phase(plan, PHASE_SETUP, 1,
				     "set-sysctl --save " SAVED " --at-least vm.nr_hugepages 0");
	if (c->size == SIZE_SMALL_PER_TASK || c->shape == SHAPE_REMAP)
		suite_plan_add_phase(plan, PHASE_SETUP, 1,
				     "set-sysctl --save " SAVED " --at-least vm.max_map_count %u",
				     MAPPINGS_MAX);
	if (c->shape == SHAPE_KSM)
		suite_plan_add_phase(plan, PHASE_SETUP, 1,
				     "set-sysctl --save " SAVED " /sys/kernel/mm/ksm/run 1");
	if (c->size == SIZE_NONE && c->file == VMS_FILE_NONE) {
		suite_plan_add_phase(plan, PHASE_SETUP, 1,
				     "set-sysctl --save " SAVED
				     " --at-least kernel.threads-max 1048576");
		suite_plan_add_phase(plan, PHASE_SETUP, 1,
				     "set-sysctl --save " SAVED
				     " --at-least kernel.pid_max 131072");
	}
}

/* Bytes that the case writes to the disk; sparse files take no room there. */
static unsigned long long disk_bytes(const struct making *k)
{
	if (strstr(k->c->options ? k->c->options : "", "--msync") ||
	    !strncmp(k->c->name, "msync", 5))
		return k->c->threads ? k->bytes : k->bytes * k->z->tasks;
	return 0;
}

static void plan_files(const struct making *k)
{
	unsigned long long size = vms_bytes(k->c, k->c->file_size, k->z);
	struct suite_plan *plan = k->plan;

	if (k->c->needs & VMS_NEEDS_DISK)
		suite_plan_add_phase(plan, PHASE_SETUP, 1, "need-disk . %llu", disk_bytes(k));
	switch (k->c->file) {
	case VMS_FILE_NONE:
		break;
	case VMS_FILE_DISK:
		suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-file file %llu", size);
		break;
	case VMS_FILE_DISK_EACH:
		suite_plan_add_phase(plan, PHASE_SETUP, plan->tasks, "make-file file-{i} %llu",
				     size);
		break;
	case VMS_FILE_SHM:
	case VMS_FILE_SHM_EACH:
		suite_plan_add_phase(plan, PHASE_SETUP, 1, "mount-tmpfs shm %llu", size);
		if (k->c->file == VMS_FILE_SHM)
			suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-file shm/file %llu", size);
		else
			suite_plan_add_phase(plan, PHASE_SETUP, plan->tasks,
					     "make-file shm/file-{i} %llu", size);
		break;
	}
	if (k->c->needs & VMS_NEEDS_MEMCG)
		suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-memcg " MEMCG " %llu", k->bytes);
}

/* Of what the set-up has made; each is content when there is nothing. */
static void plan_cleanup(const struct making *k, bool sysctls)
{
	struct suite_plan *plan = k->plan;

	if (k->c->needs & VMS_NEEDS_MEMCG)
		suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "remove-memcg " MEMCG);
	if (k->c->file == VMS_FILE_SHM || k->c->file == VMS_FILE_SHM_EACH)
		suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "unmount shm");
	if (k->c->file == VMS_FILE_DISK)
		suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "remove-files file");
	if (k->c->file == VMS_FILE_DISK_EACH)
		suite_plan_add_phase(plan, PHASE_CLEANUP, plan->tasks, "remove-files file-{i}");
	if (sysctls)
		suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "restore-sysctls " SAVED);
}

static const char *file_option(const struct vms_case *c)
{
	switch (c->file) {
	case VMS_FILE_NONE:
		break;
	case VMS_FILE_DISK:
		return " -f file";
	case VMS_FILE_DISK_EACH:
		return " -f file-{i}";
	case VMS_FILE_SHM:
		return " -f shm/file";
	case VMS_FILE_SHM_EACH:
		return " -f shm/file-{i}";
	}
	return "";
}

/* One usemem for all tasks, or one for each. */
static void plan_usemem(const struct making *k, const char *prefix)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const struct vms_case *c = k->c;
	bool forks = c->size == SIZE_NONE && c->file == VMS_FILE_NONE;

	strbuf_addf(&b, "%susemem", prefix);
	if (k->runtime > 0 && !c->no_rate)
		strbuf_addf(&b, " --runtime %u", k->runtime);
	strbuf_addf(&b, " %s", c->options);
	if (c->size == SIZE_NONE && c->file == VMS_FILE_DISK) {
		strbuf_addf(&b, " -n %u file", k->z->tasks);
	} else {
		strbuf_addf(&b, "%s", file_option(c));
		if (c->shape == SHAPE_USEMEM && !forks)
			strbuf_addf(&b, " %s %u", c->threads ? "-t" : "-n", k->z->tasks);
		strbuf_addf(&b, " %llu", k->bytes);
	}
	suite_plan_add_phase(k->plan, PHASE_RUN, c->shape == SHAPE_USEMEM ? 1 : k->z->tasks, "%s",
			     strbuf_str(&b));
}

/* @prefix: "case NAME " where that command also takes the time. */
static void plan_run(const struct making *k, const char *prefix)
{
	const char *options = k->c->options;
	struct suite_plan *plan = k->plan;
	unsigned n = k->z->tasks;

	switch (k->c->shape) {
	case SHAPE_USEMEM:
	case SHAPE_USEMEM_EACH:
		plan_usemem(k, prefix);
		break;
	case SHAPE_READ:
	case SHAPE_READ_TWICE:
		suite_plan_add_phase(plan, PHASE_RUN, n, "read-file --runtime %u%s file-{i}",
				     k->runtime, k->c->shape == SHAPE_READ ? "" : " --readers 2");
		break;
	case SHAPE_READ_MEMCG:
		suite_plan_add_phase(plan, PHASE_RUN, n,
				     "in-memcg " MEMCG " read-file --runtime %u file-{i}",
				     k->runtime);
		break;
	case SHAPE_TRUNCATE:
		suite_plan_add(plan, "truncate-files %s %u %llu", options, n, k->bytes);
		break;
	case SHAPE_REMAP:
		suite_plan_add_phase(plan, PHASE_RUN, n, "remap-file file-{i} %llu", k->bytes);
		break;
	case SHAPE_MIGRATE:
		suite_plan_add(plan, "migrate-pages %llu %u", k->bytes, k->runtime);
		break;
	case SHAPE_MOVE:
		suite_plan_add(plan, "%smove-pages %s %llu", prefix, options, k->bytes);
		break;
	case SHAPE_KSM:
		suite_plan_add(plan, "%sksm %s %u %llu %u", prefix, options, n, k->bytes,
			       k->runtime ? k->runtime : KSM_SLEEP);
		break;
	case SHAPE_HUGETLB:
		suite_plan_add(plan, "%shugetlb %llu", prefix, k->bytes / HUGE_PAGE);
		break;
	case SHAPE_SWAPIN:
		suite_plan_add(plan, "swapin %u %llu %llu", n, k->bytes,
			       (unsigned long long)k->z->available / 2);
		break;
	}
}

static void plan_bundled(const struct making *k)
{
	_cleanup_(freep) char *prefix = xasprintf("case %s ", k->c->name);

	bool sysctls;

	plan_sysctls(k);
	sysctls = k->plan->n > 0;
	plan_files(k);
	/* The line that marks a run; output is split there. */
	if (!k->c->no_rate)
		suite_plan_add(k->plan, "case %s", k->c->name);
	plan_run(k, k->c->no_rate ? prefix : "");
	plan_cleanup(k, sysctls);
}

static int vms_plan(const struct suite *s, const char *test, const struct suite_param *params,
		    size_t n, const struct suite_machine *m, struct suite_plan *plan, struct err *e)
{
	const struct vms_case *c = vms_case_find(test);
	struct vms_sizes z = { 0 };
	struct making k = { .c = c, .z = &z, .plan = plan };
	unsigned starts;
	int r;

	r = suite_tasks(s, params, n, "100%", m, &plan->tasks, e);
	if (r == 0)
		r = suite_seconds(params, n, "runtime", &k.runtime, e);
	if (r < 0)
		return r;
	z.tasks = plan->tasks;
	r = vms_sizes_init(c, params, n, m, &z, e);
	if (r == 0)
		r = vms_check_needs(c, &z, e);
	if (r < 0)
		return r;
	starts = vms_starts(c, &z);
	if (k.runtime == 0 && (c->endless || starts > 1 || m->path))
		k.runtime = DEFAULT_RUNTIME;
	k.bytes = vms_bytes(c, c->size, &z);
	if (m->path)
		vms_plan_upstream(c, params, n, m, &z, k.runtime, plan);
	else
		plan_bundled(&k);
	if (starts > 1) {
		plan->repeat_s = k.runtime;
		plan->repeat_max = starts;
	}
	/* The limit is looked at between chunks of work only, and freeing takes time too. */
	plan->deadline_s = k.runtime > 0 ? 2.0 * (k.runtime + 1) + 60 : DEFAULT_WAIT;
	return 0;
}

static const char *vms_headline(const char *test, const struct suite_param *params, size_t n)
{
	const struct vms_case *c = test ? vms_case_find(test) : NULL;

	(void)params;
	(void)n;
	if (c && c->no_rate)
		return "vm-scalability.case_time";
	return c && c->shape == SHAPE_MIGRATE ? "vm-scalability.migrate_mbps"
					      : "vm-scalability.throughput";
}

const struct suite suite_vms = {
	.name = "vm-scalability",
	.about = "Memory touched, mapped and freed in many ways by parallel tasks.",
	.params = params_known,
	.metrics = metrics,
	.bundled = true,
	.work = "vm-scalability.workload",
	.max_tasks = 1048576,
	.test_name = vms_test_name,
	.test_about = vms_test_about,
	.plan = vms_plan,
	.parse = vms_parse,
	.headline = vms_headline,
};
