/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What driver netboot needs of the database: struct lab_netboot on top of bot/store/netboot.h. */
#pragma once

#include "bot/jobs/job_ctx.h"
#include "runners/drivers/driver.h"

struct lab_netboot_store;

/**
 * lab_netboot_store_new() - for the machine that @c holds.
 * @ret: lab_netboot_store_free() it, after the boot.
 * @ret_ops: filled; valid as long as @ret.
 *
 * It has a database connection of its own, which does not wait for a server that is away: the driver
 * has other things to look after meanwhile.
 */
int lab_netboot_store_new(const struct job_ctx *c, struct lab_netboot_store **ret,
			  struct lab_netboot *ret_ops, struct err *e);
void lab_netboot_store_free(struct lab_netboot_store *s);
