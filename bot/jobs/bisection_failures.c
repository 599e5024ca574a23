/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_failures.h"

#include "bot/base/err.h"
#include "runners/drivers/driver.h"

#include <string.h>

/* Failures of a commit that never ran: of the kernel, and those of the benchmark or the agent. */
#define BLAMED_MOST  2
#define TAINTED_MOST 3
/* One that runs now and then is given up with that many failures more than twice its good boots. */
#define FLAKY_MOST 6

bool bisection_failures_taint(const char *name)
{
	enum lab_class class;

	if (lab_class_find(name, &class, NULL) < 0)
		return !strcmp(name, "parse");
	return class == LAB_BENCH_ERROR || class == LAB_BENCH_TIMEOUT || class == LAB_OOM ||
	       class == LAB_AGENT || class == LAB_WRONG_KERNEL;
}

static bool blames_lab(const char *name)
{
	enum lab_class class;

	return lab_class_find(name, &class, NULL) == 0 && !lab_class_blames_kernel(class) &&
	       !bisection_failures_taint(name);
}

static bool blames_kernel(const char *name)
{
	enum lab_class class;

	return lab_class_find(name, &class, NULL) == 0 && lab_class_blames_kernel(class);
}

struct tally {
	int ok, blamed, tainted, lab;
};

static struct tally tally_of(const struct bisection_run *b, const char *commit)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *o = &b->boots[i];

		if (strcmp(o->commit, commit) != 0 || o->wanted || o->excluded || o->unproven)
			continue;
		t.ok += o->ok;
		t.tainted += !o->ok && bisection_failures_taint(o->class);
		t.blamed += !o->ok && blames_kernel(o->class);
		t.lab += !o->ok && blames_lab(o->class) && !strcmp(o->bisection, b->row.id);
	}
	return t;
}

int bisection_failures_skip(struct bisection_run *b, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_boots; i++) {
		const char *commit = b->boots[i].commit;
		int k = bisection_run_index(b, commit);
		struct tally t = tally_of(b, commit);

		if (k < BISECT_GOOD_END)
			continue;
		if ((!t.ok && t.blamed >= BLAMED_MOST) || t.blamed >= FLAKY_MOST + 2 * t.ok)
			r = bisection_run_skip(b, k, BISECT_SKIP_BOOT, e);
		else if ((!t.ok && t.tainted >= TAINTED_MOST) ||
			 t.tainted + t.blamed >= FLAKY_MOST + 2 * t.ok)
			r = bisection_run_skip(b, k, BISECT_SKIP_TAINTED, e);
		else if (!t.ok && t.lab >= BISECTION_LAB_GIVE_UP)
			r = bisection_run_skip(b, k, BISECT_SKIP_TAINTED, e);
	}
	return r;
}

/* Can the search do without @commit? */
static bool is_between(const struct bisection_run *b, const char *commit)
{
	int k = bisection_run_index(b, commit);

	return k >= 0 && k + 1 < (int)b->range.graph.n;
}

void bisection_failures_count(struct bisection_run *b)
{
	bool same = true;

	b->lab_failures = 0;
	b->lab_last = NULL;
	for (size_t i = 0; i < b->n_boots; i++) {
		const struct boot_brief *o = &b->boots[i];

		if (strcmp(o->bisection, b->row.id) != 0 || o->wanted || o->unproven || o->excluded)
			continue;
		if (o->ok) {
			b->lab_failures = 0;
			b->lab_last = NULL;
			same = true;
		} else if (blames_lab(o->class)) {
			same &= !b->lab_last || !strcmp(b->lab_last->commit, o->commit);
			b->lab_failures++;
			b->lab_last = o;
		}
	}
	/* The lab may be well, and it is that commit. */
	if (same && b->lab_last && is_between(b, b->lab_last->commit))
		b->lab_failures = 0;
}
