/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Boots that failed: whose fault it was, and when a commit is given up. A fault of the lab never
 * counts as bad or good: the boot is made again. A commit that never boots is skipped, so is one
 * whose runs never end well; and one that alone the lab cannot run, since then it is not the lab.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

/** BISECTION_LAB_GIVE_UP - boots of more than one commit spoilt in a row that end a bisection. */
#define BISECTION_LAB_GIVE_UP 6

/**
 * bisection_failures_taint() - a failure that is neither the kernel's for sure nor the lab's: a
 * benchmark that ends with an error, or an agent that does not get through, which a kernel can bring
 * about as well. @class: name of a lab class, or "parse".
 */
bool bisection_failures_taint(const char *class);

/** bisection_failures_count() - fills lab_failures and lab_last of @b. */
void bisection_failures_count(struct bisection_run *b);

/** bisection_failures_skip() - tell b->state which commits are given up. */
int bisection_failures_skip(struct bisection_run *b, struct err *e);
