/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to vm-scalability: one line at a time. */
#pragma once

#include "runners/suites/internal.h"

enum vms_line {
	VMS_LINE_UNKNOWN, /* nothing of ours */
	VMS_LINE_GOOD,
	VMS_LINE_BAD,	 /* begins like one of ours, and is damaged */
	VMS_LINE_FAILED, /* a program says that it could not do its work */
};

enum vms_kind {
	VMS_OTHER,
	VMS_USEMEM,
	VMS_RATE,
	VMS_FAULTED,
	VMS_FREE,
	VMS_TIME, /* what the whole case took */
	VMS_MIGRATED
};

/**
 * struct vms_value - what a line says.
 * @rate: KiB per second; MB per second for VMS_MIGRATED.
 * @seconds: for VMS_FREE and VMS_TIME.
 */
struct vms_value {
	enum vms_kind kind;
	double bytes, rate, seconds;
};

/**
 * vms_line_read() - take @l apart.
 * @ret: filled for VMS_LINE_GOOD.
 * @ret_why: for VMS_LINE_BAD what the line is not, static.
 */
enum vms_line vms_line_read(const struct line *l, struct vms_value *ret, const char **ret_why);
