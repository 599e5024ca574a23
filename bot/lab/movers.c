/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/movers.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Standard errors between the means: five runs a side reach this by chance once in 10^4. */
#define MIN_ERRORS 8.0
#define MIN_REL	   0.01
#define MIN_RUNS   3
/* A guest that counts instructions repeats itself to the last digit; nothing is that exact. */
#define MIN_SD_REL 1e-4
/* Changes that are nearer to each other are one. */
#define SAME_REL 0.003

#define PER_OP ".per_op"

static bool moved(struct mover *m)
{
	double floor = MIN_SD_REL * fmax(fabs(m->base.mean), fabs(m->head.mean));
	double diff = m->head.mean - m->base.mean;
	double se;

	m->rel = 0;
	if (m->base.n < MIN_RUNS || m->head.n < MIN_RUNS || diff == 0)
		return false;
	m->rel = m->base.mean != 0 ? m->head.mean / m->base.mean - 1 : (double)INFINITY;
	se = sqrt(fmax(m->base.sd, floor) * fmax(m->base.sd, floor) / m->base.n +
		  fmax(m->head.sd, floor) * fmax(m->head.sd, floor) / m->head.n);
	return fabs(diff) > MIN_ERRORS * se && fabs(m->rel) >= MIN_REL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct mover *)a)->name, ((const struct mover *)b)->name);
}

/* struct told - a metric with whether it is worth telling. */
struct told {
	struct mover m;
	bool moved, worth;
};

static int by_size(const void *a, const void *b)
{
	const struct told *x = a;
	const struct told *y = b;

	if (x->worth != y->worth)
		return y->worth - x->worth;
	if (x->worth && fabs(x->m.rel) != fabs(y->m.rel))
		return fabs(x->m.rel) < fabs(y->m.rel) ? 1 : -1;
	return strcmp(x->m.name, y->m.name);
}

static bool is_per_op(const char *name, size_t *ret_len)
{
	size_t len = strlen(name);

	*ret_len = len;
	if (len <= strlen(PER_OP) || strcmp(name + len - strlen(PER_OP), PER_OP) != 0)
		return false;
	*ret_len = len - strlen(PER_OP);
	return true;
}

/* The list is sorted by name, so "NAME" stands before "NAME.per_op", though not always next to it. */
static void pair_up(struct told *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len;
		size_t k = i;

		if (!is_per_op(list[i].m.name, &len))
			continue;
		while (k > 0 &&
		       (strncmp(list[k].m.name, list[i].m.name, len) != 0 || list[k].m.name[len]))
			k--;
		if (strncmp(list[k].m.name, list[i].m.name, len) != 0 || list[k].m.name[len])
			continue;
		list[i].worth = list[i].moved && list[k].moved;
		list[k].worth = false;
	}
}

size_t movers_pick(struct mover *list, size_t n, double headline_rel)
{
	_cleanup_(freep) struct told *told = xcalloc(n + 1, sizeof(*told));
	size_t worth = 0;

	qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n; i++) {
		told[i].moved = moved(&list[i]);
		told[i].m = list[i];
		told[i].worth = told[i].moved;
	}
	pair_up(told, n);
	for (size_t i = 0; i < n; i++) {
		if (fabs(told[i].m.rel - headline_rel) < SAME_REL)
			told[i].worth = false;
		worth += told[i].worth;
	}
	qsort(told, n, sizeof(*told), by_size);
	for (size_t i = 0; i < n; i++)
		list[i] = told[i].m;
	return worth;
}
