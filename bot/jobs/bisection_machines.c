/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_machines.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/bisection_order.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/boot.h"
#include "runners/drivers/driver.h"

#include <math.h>
#include <string.h>

/* Boots of the good end before what a further machine measures counts. */
#define SHIFT_BOOTS 2

static const char *further(const struct bisection_run *b, size_t i)
{
	return json_string_value(json_array_get(b->row.machines, i));
}

static bool known(const struct bisection_run *b, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (b->boots[i].id == id)
			return true;
	return false;
}

static int read_one(struct bisection_run *b, const char *machine, const char *const *commits,
		    size_t n, struct err *e)
{
	_cleanup_(freep) struct boot_brief *more = NULL;
	size_t n_more, had = b->n_boots;
	int r = boot_of_job(b->c->db, b->job.id, machine, commits, n, lab_unsure_classes(), &more,
			    &n_more, e);

	if (r < 0)
		return r;
	b->boots = xreallocarray(b->boots, had + n_more + 1, sizeof(*b->boots));
	for (size_t i = 0; i < n_more; i++)
		/* What waits for a machine is told for each. */
		if (!known(b, had, more[i].id))
			b->boots[b->n_boots++] = more[i];
	return 0;
}

int bisection_machines_read(struct bisection_run *b, const char *const *commits, size_t n,
			    struct err *e)
{
	int r = read_one(b, b->row.machine, commits, n, e);

	for (size_t i = 0; r == 0 && i < json_array_size(b->row.machines); i++)
		r = read_one(b, further(b, i), commits, n, e);
	return r;
}

bool bisection_machines_aside(const struct bisection_run *b, const struct boot_brief *boot)
{
	const char *where = boot->wanted ? boot->place : boot->machine;

	return !strcmp(boot->commit, b->good) && *where && strcmp(where, b->row.machine) != 0;
}

/* Mean over boots of the good end on one machine, made for this bisection. */
struct level {
	double mean;
	int boots;
	double runs;
};

static struct level good_level(const struct bisection_run *b, const char *machine)
{
	struct level l = { 0 };

	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *boot = &b->boots[i];
		double sum = 0;
		int n = 0;

		if (!boot->ok || strcmp(boot->machine, machine) != 0 ||
		    strcmp(boot->commit, b->good) != 0 || strcmp(boot->bisection, b->row.id) != 0)
			continue;
		for (size_t k = 0; k < b->n_values; k++)
			if (b->values[k].boot == boot->id) {
				sum += b->values[k].value;
				n++;
			}
		if (!n)
			continue;
		l.boots++;
		l.runs += n;
		l.mean += (sum / n - l.mean) / l.boots;
	}
	return l;
}

static double error_of(const struct level *l, const struct bisect_params *p)
{
	return p->boot_sd * p->boot_sd / l->boots + p->sigma * p->sigma / l->runs;
}

static const struct boot_brief *boot_of_value(const struct bisection_run *b, size_t i)
{
	size_t k = 0;

	while (b->boots[k].id != b->values[i].boot)
		k++;
	return &b->boots[k];
}

/* Leaves the values of @machine out, or moves them by @shift; those of the good end are used up. */
static void apply(struct bisection_run *b, const char *machine, bool usable, double shift)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_values; i++) {
		const struct boot_brief *boot = boot_of_value(b, i);
		struct boot_value v = b->values[i];

		if (!strcmp(boot->machine, machine)) {
			if (!usable || !strcmp(boot->commit, b->good))
				continue;
			v.value += shift;
		}
		b->values[n++] = v;
	}
	b->n_values = n;
}

void bisection_machines_shift(struct bisection_run *b, struct bisect_params *p)
{
	struct level first = good_level(b, b->row.machine);
	double var = 0;

	b->slots = 1;
	for (size_t i = 0; i < json_array_size(b->row.machines); i++) {
		struct level l = good_level(b, further(b, i));
		bool usable = first.boots >= SHIFT_BOOTS && l.boots >= SHIFT_BOOTS;

		apply(b, further(b, i), usable, first.mean - l.mean);
		if (!usable)
			continue;
		b->slots++;
		var = fmax(var, error_of(&first, p) + error_of(&l, p));
	}
	p->boot_sd = sqrt(p->boot_sd * p->boot_sd + var);
}

/* By boots: their values are used up by now, see apply(). */
static int64_t good_boots(const struct bisection_run *b, const char *machine)
{
	int64_t n = 0;

	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *boot = &b->boots[i];

		n += boot->ok && !strcmp(boot->machine, machine) &&
		     !strcmp(boot->commit, b->good) && !strcmp(boot->bisection, b->row.id);
	}
	return n;
}

static int measure_good_end(struct bisection_run *b, const char *machine, const json_t *placed,
			    struct err *e)
{
	int64_t have = good_boots(b, machine) + json_i64(placed, machine, 0);
	int r = 0;

	for (; r >= 0 && have < SHIFT_BOOTS; have++)
		r = bisection_order_on(b, b->good, machine, e);
	return r < 0 ? r : 0;
}

int bisection_machines_join(struct bisection_run *b, struct err *e)
{
	int64_t most = json_i64(b->row.request, "machines",
				config_i64(b->c->config, "bisect", NULL, "machines"));
	_cleanup_(json_decrefp) json_t *placed = NULL;
	json_t *names = NULL;
	int r;

	if (most < 2 || !b->row.machine[0])
		return 0;
	r = bisection_join(b->c->db, b->row.id, (int)most - 1, &names, e);
	if (r == ERR_NOENT)
		return 0;
	if (r == 0)
		r = bisection_placed(b->c->db, b->row.id, b->good, &placed, e);
	for (size_t i = 0; r == 0 && i < json_array_size(names); i++)
		r = measure_good_end(b, json_string_value(json_array_get(names, i)), placed, e);
	json_decref(names);
	return r;
}
