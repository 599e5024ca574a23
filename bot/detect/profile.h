/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What earlier commits say about the noise of one (machine, job, metric). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	DETECT_SIZES_MAX = 16,
	DETECT_HISTORY_MIN = 10,
	DETECT_HISTORY_MAX = 40
};

/**
 * struct detect_profile - noise profile; all zero (.have = false) means no history.
 * @have: there is history enough, the rest is valid.
 * @ln_scale: the numbers are of ln(value); otherwise of the values themselves.
 * @lo, @hi: clip limits around a sample's median, @lo < 0 < @hi.
 * @d0, @s0sq: prior weight (degrees of freedom) and variance of one unit.
 * @scsq: variance between commits that do not differ.
 * @pair_rho: correlation of units that were made one after the other; -1 to 1, 0 if unknown.
 * @lambda: factor on the standard error for sizes not in @sizes, >= 1.
 * @sizes, @lambdas, @nsizes: factors by units a side, ascending sizes.
 * @history: commits behind it.
 * @bimodal: the noise has two modes; then @cut lies between them (at the level of the history),
 *	with standard deviation @sd_in inside a mode on @dof_in degrees of freedom.
 */
struct detect_profile {
	bool have;
	bool ln_scale;
	double lo;
	double hi;
	double d0;
	double s0sq;
	double scsq;
	double pair_rho;
	double lambda;
	int sizes[DETECT_SIZES_MAX];
	double lambdas[DETECT_SIZES_MAX];
	size_t nsizes;
	int history;
	bool bimodal;
	double cut;
	double sd_in;
	double dof_in;
};

/**
 * struct detect_commit - one earlier commit.
 * @units: its @n units (boot means, or runs) in the order they were made; the caller's.
 * @borrowed: not a commit of this branch, say a build of another branch for the same job on the
 *	same machine. Its units show their noise, its level says nothing about how commits that
 *	do not differ vary: no pair of neighbours with it counts for that.
 */
struct detect_commit {
	const double *units;
	size_t n;
	bool borrowed;
};

/**
 * detect_profile_fit() - noise profile from history.
 * @commits: @ncommits earlier commits, oldest first, without a known change between them. Those
 *	with fewer than 2 finite units are left out, of the rest the last 40 are used.
 * @sizes: @nsizes ascending numbers of units a side to calibrate for, at most DETECT_SIZES_MAX.
 * @seed: of the generator that calibration draws from; the same seed gives the same profile.
 * @ret: filled on success; @ret->have is false when fewer than 10 commits can be used,
 *	or when they show no noise at all.
 *
 * Pure. Some .2 ms for 40 commits with 5 units and 5 sizes.
 * Return: 0; ERR_INVAL for bad @sizes.
 */
int detect_profile_fit(const struct detect_commit *commits, size_t ncommits, const int *sizes,
		       size_t nsizes, uint64_t seed, struct detect_profile *ret, struct err *e);

/** detect_profile_lambda() - the factor on the standard error for @units a side. */
double detect_profile_lambda(const struct detect_profile *p, size_t units);
