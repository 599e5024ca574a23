/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection asks for: builds, boots, and the row that tells how it goes. */
#pragma once

#include "bot/jobs/bisection_run.h"

/**
 * bisection_order() - order @boots boots of @hash with @runs runs each, building it first when that
 * is needed. @first: on the first machine only. Return: 1, something was asked for; an error.
 */
int bisection_order(struct bisection_run *b, const char *hash, int boots, int runs, bool first,
		    struct err *e);

/**
 * bisection_order_turns() - so many boots of each of @hashes that are of this bisection, in turns
 * (A B B A), on its first machine. Return: 1 asked, 0 there are enough, an error.
 */
int bisection_order_turns(struct bisection_run *b, const char *const *hashes, size_t n, int boots,
			  struct err *e);

/** bisection_order_on() - one boot of @hash, which is built, on @machine alone; no step of its own. */
int bisection_order_on(struct bisection_run *b, const char *hash, const char *machine,
		       struct err *e);

/**
 * bisection_order_prio() - of its builds and boots: what a person holds to be urgent comes before
 * what others wait for, else the older is first.
 */
int bisection_order_prio(const struct bisection_run *b);

/** bisection_order_progress() - the bisection goes on, in @state. */
int bisection_order_progress(struct bisection_run *b, const char *state, struct err *e);
