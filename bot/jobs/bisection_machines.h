/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bisection on several machines. One is the first: it measures the ends, and culprit against
 * parent. Another one measures the good end itself; how far its mean lies from the first one's is
 * taken off everything that it gives, and the error of that difference counts as noise of boots.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

/** bisection_machines_read() - all boots of @commits on its machines, and those still to be made. */
int bisection_machines_read(struct bisection_run *b, const char *const *commits, size_t n,
			    struct err *e);

/**
 * bisection_machines_shift() - bring all values to the level of the first machine, and leave out
 * those of machines that have not measured the good end often enough.
 * @p: boot_sd becomes larger.
 */
void bisection_machines_shift(struct bisection_run *b, struct bisect_params *p);

/** bisection_machines_join() - let further machines take part, and have them measure the good end. */
int bisection_machines_join(struct bisection_run *b, struct err *e);

/** bisection_machines_aside() - a boot that only tells one machine from another? */
bool bisection_machines_aside(const struct bisection_run *b, const struct boot_brief *boot);
