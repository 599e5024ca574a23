/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_order.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"
#include "bot/store/work.h"

#include <string.h>

int bisection_order_progress(struct bisection_run *b, const char *state, struct err *e)
{
	_cleanup_(json_decrefp) json_t *status = bisection_run_status(b);

	return bisection_progress(b->c->db, b->row.id, state, status, e);
}

/* Asked again after its build: the step goes on. */
static void note_asked(struct bisection_run *b, const char *hash)
{
	for (size_t i = 0; i < b->n_asked; i++)
		if (!strcmp(b->asked[i].hash, hash))
			return;
	if (b->n_asked == BISECTION_ASKED_MAX)
		return; /* readers miss a line */
	(void)snprintf(b->asked[b->n_asked].hash, sizeof(b->asked[0].hash), "%s", hash);
	b->asked[b->n_asked++].at = b->now_s;
}

int bisection_order_prio(const struct bisection_run *b)
{
	const char *text = json_str(b->row.request, "priority", "normal");

	return !strcmp(text, "high") ? 2 : !strcmp(text, "low") ? -2 : 0;
}

/* Return: is the build there? */
static int order(struct bisection_run *b, const char *hash, int boots, int runs,
		 const char *machine, struct err *e)
{
	struct boot_order o = { .commit = hash,
				.job = b->job.id,
				.bisection = b->row.id,
				.runs = runs,
				.place = machine && *machine ? machine : NULL,
				.prio = bisection_order_prio(b) };
	enum need_state need = NEED_WAIT;
	int r;

	r = job_mirror_store_commit(b->c->db, b->mirror, hash, e);
	if (r == 0)
		r = need_build(b->c, &b->job, hash, o.prio, &o.build, &need, e);
	/* A build that fails wakes us: the commit is then skipped. */
	for (int i = 0; need == NEED_READY && r == 0 && i < boots; i++)
		r = boot_order(b->c->db, &o, b->job.group, true, e);
	return r;
}

int bisection_order(struct bisection_run *b, const char *hash, int boots, int runs, bool first,
		    struct err *e)
{
	bool alone = !json_array_size(b->row.machines);
	int r = order(b, hash, boots, runs, first && !alone ? b->row.machine : NULL, e);

	if (r < 0)
		return r;
	note_asked(b, hash);
	return 1;
}

int bisection_order_on(struct bisection_run *b, const char *hash, const char *machine,
		       struct err *e)
{
	return order(b, hash, 1, b->job.runs_per_boot, machine, e);
}

/* Turns asked for at once, A B B A: others that share the machine have theirs in between. */
#define TURNS_AT_ONCE 2

/* Is side @i booted in the turn in which there are @have[] boots of each? */
static bool takes_part(const struct bisection_side *sides, size_t n, size_t i, const int *have,
		       int boots)
{
	if (have[i] < boots)
		return true;
	for (size_t k = 0; k < n; k++)
		if (sides[k].with && !strcmp(sides[k].with, sides[i].hash) && have[k] < boots)
			return true;
	return false;
}

/*
 * Which sides boot, one after another, until all have enough or @most turns are over. @ret: indices;
 * free() it.
 */
static size_t plan_turns(const struct bisection_run *b, const struct bisection_side *sides,
			 size_t n, int boots, int most, size_t **ret)
{
	_cleanup_(freep) int *have = xcalloc(n, sizeof(*have));
	_cleanup_(freep) bool *now = xcalloc(n, sizeof(*now));
	size_t len = 0, before;

	*ret = xcalloc(n * (size_t)boots + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++)
		have[i] = bisection_run_fresh(b, sides[i].hash);
	for (int turn = 0; turn < most; turn++) {
		before = len;
		for (size_t i = 0; i < n; i++)
			now[i] = takes_part(sides, n, i, have, boots);
		for (size_t k = 0; k < n; k++) {
			size_t i = turn % 2 ? n - 1 - k : k;

			if (!now[i])
				continue;
			have[i]++;
			(*ret)[len++] = i;
		}
		if (len == before)
			break;
	}
	return len;
}

int bisection_order_turns(struct bisection_run *b, const struct bisection_side *sides, size_t n,
			  int boots, struct err *e)
{
	_cleanup_(freep) size_t *turns = NULL;
	int all = bisection_order_missing(b, sides, n, boots) * b->job.runs_per_boot;
	/* The last runs of a budget have to be asked for together: it is not looked at in between. */
	bool last = b->own_runs + all >= b->max_runs;
	size_t len = plan_turns(b, sides, n, boots, last ? boots : TURNS_AT_ONCE, &turns);

	for (size_t i = 0; i < len; i++) {
		int r = bisection_order(b, sides[turns[i]].hash, 1, b->job.runs_per_boot, true, e);

		if (r < 0)
			return r;
	}
	return len > 0;
}

int bisection_order_missing(const struct bisection_run *b, const struct bisection_side *sides,
			    size_t n, int boots)
{
	_cleanup_(freep) size_t *turns = NULL;

	return (int)plan_turns(b, sides, n, boots, boots, &turns);
}

int bisection_order_wake(struct bisection_run *b, const char *what, double delay_s, struct err *e)
{
	_cleanup_(json_decrefp) json_t *payload = json_object();
	_cleanup_(freep) char *text = NULL;
	_cleanup_(freep) char *dedupe = xasprintf("bisect-%s:%s", what, b->row.id);

	json_set_str(payload, "bisection", b->row.id);
	json_set_bool(payload, "wake", true);
	text = json_text(payload);
	return work_enqueue(b->c->db, "bisect", 0, delay_s, dedupe, text, e);
}
