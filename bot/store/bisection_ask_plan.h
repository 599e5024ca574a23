/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of a bisection that is asked for, and whether it can find anything within them. */
#pragma once

#include "bot/store/bisection_ask.h"

struct job;

/** ask_limits() - budget, deadline and the like; fills @plan, adds problems. */
void ask_limits(const struct config *config, const struct bisection_ask *a, const struct job *job,
		struct bisection_plan *plan, json_t *problems);

/** ask_machines() - who can measure; problems "unknown_machine", "machine_drained". */
int ask_machines(struct db *db, const struct config *config, const struct bisection_ask *a,
		 struct bisection_plan *plan, json_t *problems, struct err *e);

/**
 * ask_power() - simulate it. Problems "budget_too_small" with the number that would do,
 * "effect_below_noise".
 */
int ask_power(struct db *db, const struct bisection_ask *a, struct bisection_plan *plan,
	      json_t *problems, struct err *e);
