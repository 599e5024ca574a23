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
 * struct bisection_side - what is measured in turns with others; borrowed.
 * @with: the side that it is compared with takes part in each of its turns, however often that was
 *	booted before; NULL: none.
 */
struct bisection_side {
	const char *hash;
	const char *with;
};

/**
 * bisection_order_turns() - so many boots of each of @sides that are of this bisection, in turns
 * (A B B A), on its first machine. Two turns at a time: call it again when they are over.
 * Return: 1 asked, 0 there are enough, an error.
 */
int bisection_order_turns(struct bisection_run *b, const struct bisection_side *sides, size_t n,
			  int boots, struct err *e);

/** bisection_order_missing() - boots that bisection_order_turns() would ask for. */
int bisection_order_missing(const struct bisection_run *b, const struct bisection_side *sides,
			    size_t n, int boots);

/** bisection_order_wake() - look again in @delay_s seconds, whatever happens; once for each @what. */
int bisection_order_wake(struct bisection_run *b, const char *what, double delay_s, struct err *e);

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
