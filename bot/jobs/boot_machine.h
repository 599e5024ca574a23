/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the end of a boot says about the machine: faults in a row drain it, a good boot proves what
 * failed there before, and the control build tells a machine that changed from a kernel that did.
 */
#pragma once

#include "bot/jobs/job_ctx.h"
#include "bot/store/boot.h"
#include "runners/drivers/driver.h"

/**
 * boot_machine_after() - draw the consequences, in the transaction that stores the boot.
 * @boot: already finished there. @kconfig: of its job.
 * @class, @why: how it ended; @good: has it runs that count?
 */
int boot_machine_after(struct job_ctx *c, const struct boot *boot, const char *kconfig,
		       enum lab_class class, const char *why, bool good, struct err *e);

/** boot_machine_retry() - the boot is made again because of the lab: note the machine's part in that. */
int boot_machine_retry(struct job_ctx *c, enum lab_class class, const char *why, struct err *e);

/**
 * boot_machine_needs_control() - is a control boot that failures asked for still needed?
 * Return: 1, 0, or an error.
 */
int boot_machine_needs_control(struct job_ctx *c, struct err *e);
