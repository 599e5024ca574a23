/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/bisect/history.h"

#include "tests/test.h"

#include <math.h>
#include <stdio.h>

#define DEPTH_MOST 3

struct maker {
	struct bisect_graph *g;
	uint64_t seed;
	size_t want;
};

/* splitmix64 */
double history_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (double)(z >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
	double u = 1 - history_random(seed);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * history_random(seed));
}

static int add(struct maker *m, int first, int second)
{
	const int parents[2] = { first, second };
	bool outside = first < 0 || second == -1;
	const int *from = first < 0 ? parents + 1 : parents;
	size_t n = first >= 0 && second >= 0 ? 2 : first >= 0 || second >= 0 ? 1 : 0;
	struct err e = { 0 };
	char hash[41];

	(void)snprintf(hash, sizeof(hash), "%040zx", m->g->n + 1);
	assert_ok(bisect_graph_add(m->g, hash, from, n, outside, &e), &e);
	return (int)m->g->n - 1;
}

#define NO_PARENT (-2)

/* A branch off @base (-1: off something older than the range) of about @length commits. */
static int branch(struct maker *m, int base, size_t length, int depth)
{
	size_t end = m->g->n + length;
	int tip = base;
	int made = 0;

	/* Room is left for the merges that take the branch in. */
	while (m->g->n + (size_t)depth < m->want && (made == 0 || m->g->n < end)) {
		double share = depth == 0 ? 0.85 : 0.06;

		if (depth < DEPTH_MOST && history_random(&m->seed) < share) {
			size_t left = depth == 0 ? m->want : end - m->g->n;
			size_t l =
				(size_t)fmin(exp(2.1 + 1.2 * normal(&m->seed)) + 1, (double)left);
			int old = history_random(&m->seed) < 0.75 || tip < 0
					  ? -1
					  : (int)(history_random(&m->seed) * (tip + 1));
			int side = branch(m, old, l, depth + 1);

			if (side != old)
				tip = add(m, tip, side);
			else
				tip = add(m, tip, NO_PARENT);
		} else {
			tip = add(m, tip, NO_PARENT);
		}
		made++;
	}
	return tip;
}

void history_make(struct bisect_graph *g, size_t n, uint64_t seed)
{
	struct maker m = { .g = g, .seed = seed, .want = n };
	struct err e = { 0 };

	assert_true(n >= 2);
	(void)branch(&m, -1, n, 0);
	assert_int_equal(g->n, n);
	assert_ok(bisect_graph_prepare(g, &e), &e);
}
