/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vm-scalability as the operator has it: the scripts case-* in its folder, with the set-up that LKP
 * gives them. The folders are those that the scripts know.
 */
#include "runners/suites/vms.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <string.h>

#define TMP   "/tmp/vm-scalability-tmp"
#define IMAGE TMP "/sparse.img"
#define ROOT  TMP "/sparse"
#define SAVED TMP "/sysctls.saved"

static const struct {
	const char *name;
	unsigned value;
} sysctls[] = {
	{ "vm.overcommit_memory", 1 },
	{ "vm.max_map_count", 1u << 30 },
	{ "kernel.threads-max", 1u << 20 },
};

static void plan_image(const char *fs, uint64_t bytes, struct suite_plan *plan)
{
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-file " IMAGE " %llu",
			     (unsigned long long)bytes);
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "/sbin/mkfs.%s -q %s " IMAGE, fs,
			     strcmp(fs, "ext4") ? "-f" : "-F");
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "make-folder " ROOT);
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "/bin/mount -o loop " IMAGE " " ROOT);
}

void vms_plan_upstream(const struct vms_case *c, const struct suite_param *params, size_t n,
		       const struct suite_machine *m, const struct vms_sizes *z, unsigned runtime,
		       struct suite_plan *plan)
{
	plan->dir = xstrdup(m->path);
	suite_plan_identify(plan, "case-%s", c->name);
	suite_plan_identify(plan, "usemem");
	suite_plan_env(plan, "nr_task=%u", z->tasks);
	suite_plan_env(plan, "runtime=%u", runtime);
	if (z->unit_given)
		suite_plan_env(plan, "unit_size=%llu", (unsigned long long)z->unit);
	suite_plan_env(plan, "shm_size=%llu", (unsigned long long)z->shm);
	suite_plan_env(plan, "SPARSE_ROOT=" ROOT);
	suite_plan_add_phase(plan, PHASE_SETUP, 1, "mount-tmpfs " TMP " %llu",
			     (unsigned long long)(z->shm > z->mem ? z->shm : z->mem));
	for (size_t i = 0; i < ARRAY_SIZE(sysctls); i++)
		suite_plan_add_phase(plan, PHASE_SETUP, 1, "set-sysctl --save " SAVED " %s %u",
				     sysctls[i].name, sysctls[i].value);
	if (c->needs & VMS_NEEDS_DISK)
		plan_image(suite_param_get(params, n, "fs", "xfs"), z->mem, plan);
	/* Its programs may print on stderr, and the parser reads the other one. */
	suite_plan_add(plan, "case %s ./case-%s", c->name, c->name);
	if (c->needs & VMS_NEEDS_DISK)
		suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "unmount " ROOT);
	suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "restore-sysctls " SAVED);
	suite_plan_add_phase(plan, PHASE_CLEANUP, 1, "unmount " TMP);
}
