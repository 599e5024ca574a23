/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to vm-scalability, and to the listing of its cases. */
#pragma once

#include "runners/suites/internal.h"

/** vms_parse() - suite_parse() for the lines of usemem, dd and the helper programs. */
int vms_parse(const struct suite *s, const char *test, const char *text, size_t len,
	      const struct suite_param *params, size_t n, struct suite_output *out, struct err *e);

/**
 * enum vms_size - how the bytes of a task, or of a file, follow from the sizes of the machine.
 *
 * N tasks, M all memory, A free memory, U unit_size, S shm_size. P = 256 * A is what page tables of
 * half the free memory map; R = min(4T, P); L = 64T is what an address space holds.
 */
enum vms_size {
	SIZE_NONE,
	SIZE_UNIT,	     /* U */
	SIZE_UNIT_PER_TASK,  /* U / N */
	SIZE_UNIT_PER_TASK1, /* U / (N + 1): the parent has a copy too */
	SIZE_READ_SEQ,	     /* min(P / N, L) */
	SIZE_READ_SEQ_MT,    /* min(P, L) / N */
	SIZE_READ,	     /* R */
	SIZE_READ_PER_TASK,  /* R / N */
	SIZE_READ_EIGHTH,    /* R / 8 */
	SIZE_LOCK_PER_TASK,  /* A / 3 / N */
	SIZE_SMALL_PER_TASK, /* R halved until its mappings fit in a third of M, / N */
	SIZE_SHM,	     /* S */
	SIZE_SHM_HALF,	     /* S / 2 */
	SIZE_SHM_PER_TASK,   /* S / N / 2 */
	SIZE_MEM,	     /* M */
	SIZE_MEM_HALF,	     /* M / 2 */
	SIZE_MEM_PER_TASK,   /* M / N */
	SIZE_MEM_PER_TASK2,  /* M / N / 2 */
	SIZE_MEM_PER_NODE,   /* M / nodes / 2 */
	SIZE_MEM_THIRD,	     /* M / 3 */
};

/** enum vms_unit - the unit when unit_size is not given; VMS_UNIT_NONE: it may not be given. */
enum vms_unit {
	VMS_UNIT_NONE,
	VMS_UNIT_HALF,	   /* M / 2 */
	VMS_UNIT_QUARTER,  /* M / 4 */
	VMS_UNIT_SHM_HALF, /* S / 2 */
	VMS_UNIT_SWAP,	   /* three quarters of A and the swap */
};

/** enum vms_file - the files that a case works on: one or one for each task, on disk or in tmpfs. */
enum vms_file {
	VMS_FILE_NONE,
	VMS_FILE_DISK,
	VMS_FILE_DISK_EACH,
	VMS_FILE_SHM,
	VMS_FILE_SHM_EACH,
};

/** enum vms_fill - the memory that all tasks together hold at a time and cannot give back. */
enum vms_fill {
	VMS_FILL_NONE, /* page tables, the zero page, page cache */
	VMS_FILL_TASK, /* what each task has */
	VMS_FILL_ONE,  /* they share it */
	VMS_FILL_COW,  /* theirs, and that of the parent */
};

/** enum vms_shape - the commands of a case. */
enum vms_shape {
	SHAPE_USEMEM,	   /* one usemem with -n N or -t N */
	SHAPE_USEMEM_EACH, /* N of them, each on its file */
	SHAPE_READ,	   /* N readers like dd */
	SHAPE_READ_TWICE,  /* two for each file */
	SHAPE_READ_MEMCG,  /* N readers in a memory cgroup of M / 3 */
	SHAPE_TRUNCATE,
	SHAPE_REMAP,
	SHAPE_MIGRATE,
	SHAPE_MOVE,
	SHAPE_KSM,
	SHAPE_HUGETLB,
	SHAPE_SWAPIN,
};

/* What a case needs of the machine. */
enum {
	VMS_NEEDS_ROOT = 1,
	VMS_NEEDS_SWAP = 2,
	VMS_NEEDS_NODES = 4,
	VMS_NEEDS_HUGETLB = 8,
	VMS_NEEDS_DISK = 16,
	VMS_NEEDS_KSM = 32,
	VMS_NEEDS_MEMCG = 64,
};

/* Processes of the fork cases, as their options have it. */
#define VMS_FORKS 20000

/**
 * struct vms_case - a test, as a row of the table in vms_cases.c.
 * @name: without "case-".
 * @options: of usemem, beside -n or -t, -f, --runtime and the size; else of the helper.
 * @threads: -t in place of -n.
 * @size: bytes of one task. @file_size: of each file.
 * @no_rate: its output has no rate; the time that it takes is its metric.
 * @endless: reads so much that it always ends by its runtime.
 * @about: one sentence.
 */
struct vms_case {
	const char *name;
	const char *options;
	enum vms_shape shape;
	bool threads;
	enum vms_size size;
	enum vms_unit unit;
	enum vms_file file;
	enum vms_size file_size;
	enum vms_fill fill;
	unsigned needs;
	bool no_rate, endless;
	const char *about;
};

/** vms_case_find() - the row of @name, with or without "case-" before it; NULL if none. */
const struct vms_case *vms_case_find(const char *name);

/** vms_case_at() - row number @i, or NULL after the last. */
const struct vms_case *vms_case_at(size_t i);

/** vms_size_text() - what a task takes, in the symbols of enum vms_size: "U / N". Static string. */
const char *vms_size_text(enum vms_size size);

/**
 * struct vms_sizes - the numbers that sizes are made of.
 * @unit_given: unit_size was a parameter. @total: parameter size times nodes, 0 if not given.
 */
struct vms_sizes {
	unsigned tasks, nodes;
	int cpus;
	uint64_t mem, available, swap, unit, shm, total;
	bool unit_given;
};

/** vms_sizes_init() - from parameters and machine; @ret->tasks is set by the caller before. */
int vms_sizes_init(const struct vms_case *c, const struct suite_param *params, size_t n,
		   const struct suite_machine *m, struct vms_sizes *ret, struct err *e);

/** vms_bytes() - @size in bytes, whole pages (or huge pages where @c has them). */
uint64_t vms_bytes(const struct vms_case *c, enum vms_size size, const struct vms_sizes *z);

/** vms_filled() - memory that @c fills with @bytes a task; at most UINT64_MAX. */
uint64_t vms_filled(const struct vms_case *c, uint64_t bytes, const struct vms_sizes *z);

/** vms_starts() - how often LKP starts the case to work through size; 1 without a size. */
unsigned vms_starts(const struct vms_case *c, const struct vms_sizes *z);

/** vms_check_needs() - ERR_NOSPACE with the numbers where the machine is too small or lacks parts. */
int vms_check_needs(const struct vms_case *c, const struct vms_sizes *z, struct err *e);

/** vms_plan_upstream() - the plan for the operator's own vm-scalability in @m->path. */
void vms_plan_upstream(const struct vms_case *c, const struct suite_param *params, size_t n,
		       const struct suite_machine *m, const struct vms_sizes *z, unsigned runtime,
		       struct suite_plan *plan);
