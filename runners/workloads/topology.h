/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs there are, in the order in which tasks fill them. Read from /sys. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define TOPOLOGY_CPUS_MAX 8192
#define TOPOLOGY_DIR	  "/sys/devices/system/cpu"

/** struct cpu_mask - as sched_setaffinity() takes it. */
struct cpu_mask {
	unsigned long bits[TOPOLOGY_CPUS_MAX / (8 * sizeof(unsigned long))];
};

/**
 * struct topology - the CPUs that this process may use.
 * @cpus: by package, L3 cache and core, each ordered by its lowest CPU.
 * @core: for each of @cpus the number of its core, counted from 0 without gaps.
 * @own: the mask that was inherited.
 */
struct topology {
	int *cpus, *core;
	size_t n, cores;
	struct cpu_mask own;
};

/**
 * topology_init() - read it; never fails.
 * Where /sys tells nothing, each CPU of the inherited mask is a core of its own; where there is not
 * even a mask, @n is 0 and pinning does nothing.
 */
void topology_init(struct topology *t);

/** topology_read() - the same for the CPUs in @own and another place than TOPOLOGY_DIR. */
void topology_read(struct topology *t, const struct cpu_mask *own, const char *dir);
void topology_done(struct topology *t);

/** topology_mask() - the CPUs of task @nr: a whole core, or with @pu one hardware thread. */
struct cpu_mask topology_mask(const struct topology *t, unsigned nr, bool pu);

/** cpu_mask_apply() - move the calling thread; does nothing with an empty mask. */
void cpu_mask_apply(const struct cpu_mask *m);

/** cpu_mask_set(), cpu_mask_isset() - one bit; CPUs beyond the maximum are ignored. */
void cpu_mask_set(struct cpu_mask *m, int cpu);
bool cpu_mask_isset(const struct cpu_mask *m, int cpu);
