/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to vm-scalability. */
#pragma once

#include "runners/suites/internal.h"

/** vms_parse() - suite_parse() for the lines of usemem, dd and the helper programs. */
int vms_parse(const struct suite *s, const char *test, const char *text, size_t len,
	      const struct suite_param *params, size_t n, struct suite_output *out, struct err *e);

/**
 * struct vms_case - a test, as a row of the table in vms.c.
 * @name: without "case-".
 * @options: of usemem, beside -n or -t, --runtime and the size.
 * @threads: -t in place of -n.
 * @size: how the bytes of one task follow from unit, memory and tasks.
 * @unit_div: the default unit is half (2) or a quarter (4) of all memory.
 */
enum vms_size {
	SIZE_UNIT,	     /* unit */
	SIZE_UNIT_PER_TASK,  /* unit / tasks */
	SIZE_UNIT_PER_TASK1, /* unit / (tasks + 1): the parent has a copy too */
	SIZE_READ_SEQ,	     /* min(P / tasks, L): P is what page tables of half the memory map */
	SIZE_READ_SEQ_MT,    /* min(P, L) / tasks */
	SIZE_READ,	     /* R = min(4T, P) */
	SIZE_READ_PER_TASK,  /* R / tasks */
	SIZE_LOCK_PER_TASK,  /* a third of the free memory / tasks */
};

struct vms_case {
	const char *name;
	const char *options;
	bool threads;
	enum vms_size size;
	unsigned unit_div;
};

/** vms_case_find() - the row of @name, with or without "case-" before it; NULL if none. */
const struct vms_case *vms_case_find(const char *name);
