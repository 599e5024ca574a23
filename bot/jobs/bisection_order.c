/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_order.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/job_mirror.h"
#include "bot/jobs/job_need.h"

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

int bisection_order_turns(struct bisection_run *b, const char *const *hashes, size_t n, int boots,
			  struct err *e)
{
	_cleanup_(freep) int *have = xcalloc(n, sizeof(*have));
	bool missing = false;
	int asked = 0;

	for (size_t i = 0; i < n; i++) {
		have[i] = bisection_run_fresh(b, hashes[i]);
		missing |= have[i] < boots;
	}
	for (size_t turn = 0; missing; turn++) {
		missing = false;
		for (size_t k = 0; k < n; k++) {
			size_t i = turn % 2 ? n - 1 - k : k;
			int r;

			if (have[i] >= boots)
				continue;
			r = bisection_order(b, hashes[i], 1, b->job.runs_per_boot, true, e);
			if (r < 0)
				return r;
			have[i]++;
			missing |= have[i] < boots;
			asked = 1;
		}
	}
	return asked;
}
