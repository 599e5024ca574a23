/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QEMU's command line for a guest of ours, and for the probe of an accelerator. */
#pragma once

#include "bot/base/vec.h"
#include "runners/drivers/driver.h"

enum qemu_accel {
	QEMU_KVM,
	QEMU_TCG,
	QEMU_ICOUNT
};

/** qemu_accel_name() - "kvm", "tcg", "icount". Static string. */
const char *qemu_accel_name(enum qemu_accel a);

/** qemu_accel_find() - the accelerator with that name. Return: 0; ERR_INVAL. */
int qemu_accel_find(const char *name, enum qemu_accel *ret, struct err *e);

/** struct qemu_fds - the descriptors that QEMU inherits, one socket each. */
struct qemu_fds {
	int agent, console, firmware, qmp;
};

/** struct qemu_args - a NULL-terminated argument vector; every string is owned. */
struct qemu_args {
	VEC(char *) argv;
};

/**
 * qemu_args_guest() - direct kernel boot, stopped until QMP says "cont".
 * @initrd: path of the archive.
 */
void qemu_args_guest(struct qemu_args *a, const struct lab_machine *m, const struct lab_request *q,
		     enum qemu_accel accel, const char *initrd, const struct qemu_fds *fds);

/** qemu_args_probe() - firmware only, with its messages on @firmware_fd. */
void qemu_args_probe(struct qemu_args *a, const struct lab_machine *m, enum qemu_accel accel,
		     int firmware_fd);

void qemu_args_done(struct qemu_args *a);
