/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made-up lab and a search in it. Inside of the library. */
#pragma once

#include "bisect/sim.h"

#include <gsl/gsl_rng.h>

#define BISECT_MACHINES_MOST 64

/**
 * struct bisect_lab - what happens in it.
 * @second: BISECT_NO_COMMIT: there is one step only.
 * @base: level of the good side.
 * @seed: of the trial. Each build and each boot draws from its own place behind it, so two
 *	  strategies meet the same lab whatever they measure first.
 * @build_effect: per commit, the good end last; NAN until built.
 * @boots_of: per commit, the good end last.
 * @steps: choices that may still be made, in this and later searches; 0: no limit. @cut: the limit
 *	was reached.
 */
struct bisect_lab {
	const struct bisect_graph *g;
	const struct bisect_sim *sim;
	gsl_rng *rng;
	uint64_t seed;
	int culprit;
	int second;
	double base;
	double *build_effect;
	int *boots_of;
	bool *broken;
	int boot;
	double minutes;
	double wall;
	int builds;
	int boots;
	int runs;
	int steps;
	bool cut;
};

struct bisect_answer {
	enum bisect_action action;
	int commit;
	double probability;
	bool in_set;
	int second;
	double second_probability;
	bool merge;
	bool drifted;
};

/** bisect_lab_init(), bisect_lab_done() - its memory. */
void bisect_lab_init(struct bisect_lab *lab, const struct bisect_graph *g,
		     const struct bisect_sim *sim);
void bisect_lab_done(struct bisect_lab *lab);

/** bisect_lab_reset() - a new lab for trial @trial of @seed, of the same memory. */
void bisect_lab_reset(struct bisect_lab *lab, uint64_t seed, int trial);

bool bisect_lab_is_broken(const struct bisect_lab *lab, int commit);

/** bisect_lab_boot() - one boot with @n runs into @y. */
void bisect_lab_boot(struct bisect_lab *lab, int commit, int n, double *y);

/** bisect_lab_search() - do what bisect_next() says until it has an answer, or is cut. */
int bisect_lab_search(struct bisect_lab *lab, struct bisect_state *s, struct bisect_answer *ret,
		      struct err *e);
