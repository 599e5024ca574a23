/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/boot_machine.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/lab/health.h"
#include "bot/store/machine.h"

#include <string.h>

/* Longest break before a machine that we drained is tried again. */
#define RECHECK_MAX_S (6 * 3600.0)

static bool drained_by_us(const struct machine *m)
{
	return !strcmp(m->health, "quarantined") ||
	       (!strcmp(m->health, "suspect") && !strcmp(m->drained_by, "kperfbot"));
}

static double recheck_s(const struct job_ctx *c)
{
	return config_f64(c->config, "machine", c->machine, "recheck");
}

/* After each failure twice as long. */
static double recheck_delay(const struct job_ctx *c, const struct machine *m)
{
	double s = recheck_s(c);

	for (int i = 0; i < m->failed_checks && s < RECHECK_MAX_S; i++)
		s *= 2;
	return s < RECHECK_MAX_S ? s : RECHECK_MAX_S;
}

static int set_health(struct job_ctx *c, const char *health, const char *why, const char *event,
		      struct err *e)
{
	log_warn("machine's health changes", lf_str("MACHINE", c->machine), lf_str("STATE", health),
		 lf_str("ERROR", why));
	return machine_health(c->db, c->machine, health, "kperfbot", why, event, true, e);
}

/* What it gave since it was last known to be sound does not count. */
static int disown(struct job_ctx *c, bool all, struct err *e)
{
	int n = 0;
	int r = boot_disown(c->db, c->machine, all, lab_unsure_classes(), &n, e);

	if (r == 0 && n)
		log_warn("boots do not count any more, their machine was not sound",
			 lf_str("MACHINE", c->machine), lf_i64("COUNT", n));
	return r;
}

static bool in_maintenance(const struct machine *m)
{
	return !strcmp(m->health, "maintenance");
}

/* What a person drained stays the person's. */
static int quarantine(struct job_ctx *c, const struct machine *m, const char *why,
		      const char *event, struct err *e)
{
	if (in_maintenance(m))
		return machine_health(c->db, c->machine, m->health, m->drained_by, m->note, event,
				      true, e);
	return set_health(c, "quarantined", why, event, e);
}

static int recheck_later(struct job_ctx *c, const struct machine *m, struct err *e)
{
	if (in_maintenance(m))
		return 0;
	return control_order(c->db, c->machine, "", recheck_delay(c, m), 10, "check", NULL, e);
}

/* The machine changed though the build is the same. Once may be an outlier, twice is drift. */
static int on_drift(struct job_ctx *c, const struct boot *boot, const struct machine *m,
		    const struct health *h, struct err *e)
{
	_cleanup_(freep) char *why =
		xasprintf("control build %+.2f%% off its reference on %zu boots, limit %.2f%%",
			  100 * h->rel, h->n, 100 * h->limit);
	int r;

	/* It is no reference for others, and no sign that the machine was sound until now. */
	r = boot_exclude(c->db, boot->id, e);
	if (r < 0)
		return r;
	if (!strcmp(m->health, "good")) {
		r = set_health(c, "suspect", why, "suspect", e);
		return r < 0 ? r : control_order(c->db, c->machine, "", 0, 10, "check", NULL, e);
	}
	r = quarantine(c, m, why, "drift", e);
	if (r == 0)
		r = disown(c, true, e);
	return r < 0 ? r : recheck_later(c, m, e);
}

static int on_steady(struct job_ctx *c, const struct machine *m, const struct health *h,
		     struct err *e)
{
	_cleanup_(freep) char *why = xasprintf("control build measured: %s (%+.2f%%, %zu before)",
					       health_verdict_name(h->verdict), 100 * h->rel, h->n);
	bool back = drained_by_us(m) || !strcmp(m->health, "suspect");

	return machine_health(c->db, c->machine, back ? "good" : m->health,
			      back || !m->drained_by[0] ? "kperfbot" : m->drained_by,
			      back || !m->note[0] ? why : m->note, back ? "recovered" : "check",
			      true, e);
}

static int on_good_control(struct job_ctx *c, const struct boot *boot, struct err *e)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	_cleanup_(freep) double *values = NULL;
	struct health h;
	size_t n = 0;
	int r;

	r = machine_get(c->db, c->machine, &m, e);
	if (r == 0)
		r = control_values(c->db, c->machine, boot->id, &values, &n, e);
	if (r < 0)
		return r;
	h = health_judge(values, n, config_f64(c->config, "machine", c->machine, "drift"));
	return h.verdict == HEALTH_DRIFT ? on_drift(c, boot, &m, &h, e) : on_steady(c, &m, &h, e);
}

/* A known-good build does not run: it is the machine. Once more at once, then it is drained. */
static int on_bad_control(struct job_ctx *c, enum lab_class class, const char *detail,
			  struct err *e)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	_cleanup_(freep) char *why = xasprintf("the control build does not run here: %s: %s",
					       lab_class_name(class), detail ? detail : "");
	int r;

	r = machine_get(c->db, c->machine, &m, e);
	if (r < 0)
		return r;
	if (!strcmp(m.health, "good")) {
		r = set_health(c, "suspect", why, "suspect", e);
		return r < 0 ? r : control_order(c->db, c->machine, "", 0, 10, "check", NULL, e);
	}
	r = quarantine(c, &m, why, strcmp(m.health, "suspect") != 0 ? "check" : "drain", e);
	if (r == 0)
		r = disown(c, false, e);
	return r < 0 ? r : recheck_later(c, &m, e);
}

static int on_good_boot(struct job_ctx *c, const struct boot *boot, struct err *e)
{
	int r;

	r = machine_outcome(c->db, c->machine, MACHINE_OK, NULL, NULL, e);
	if (r == 0)
		r = boot_proven(c->db, boot->id, c->machine, lab_unsure_classes(), e);
	if (r == 0 && !boot->control)
		r = control_keep(c->db, boot->id, e);
	if (r == 0 && !boot->control)
		r = control_due(c->db, c->machine,
				config_f64(c->config, "machine", c->machine, "check-every"),
				config_i64(c->config, "machine", c->machine, "check-boots"), e);
	return r;
}

static int on_failed_boot(struct job_ctx *c, const struct boot *boot, const char *kconfig,
			  enum lab_class class, const char *why, struct err *e)
{
	bool unsure = !boot->control && lab_class_blames_kernel(class);
	bool fault = !boot->control && lab_class_blames_machine(class);
	bool changed = false;
	int r;

	r = machine_outcome(c->db, c->machine,
			    fault    ? MACHINE_FAULT
			    : unsure ? MACHINE_FAILED
				     : MACHINE_SILENT,
			    why, &changed, e);
	if (r < 0)
		return r;
	if (changed)
		log_warn("machine drained", lf_str("MACHINE", c->machine), lf_str("ERROR", why));
	if (unsure)
		return control_order(c->db, c->machine, kconfig, 0, 0, "failure", NULL, e);
	return changed ? control_order(c->db, c->machine, kconfig, recheck_s(c), 10, "check", NULL,
				       e)
		       : 0;
}

int boot_machine_after(struct job_ctx *c, const struct boot *boot, const char *kconfig,
		       enum lab_class class, const char *why, bool good, struct err *e)
{
	int r;

	if (good)
		r = on_good_boot(c, boot, e);
	else
		r = on_failed_boot(c, boot, kconfig, class, why ? why : lab_class_name(class), e);
	if (r < 0 || !boot->control)
		return r;
	return good ? on_good_control(c, boot, e) : on_bad_control(c, class, why, e);
}

int boot_machine_retry(struct job_ctx *c, enum lab_class class, const char *why, struct err *e)
{
	bool changed = false;
	int r;

	if (!lab_class_blames_machine(class))
		return 0;
	r = machine_outcome(c->db, c->machine, MACHINE_FAULT, why, &changed, e);
	if (r < 0 || !changed)
		return r;
	log_warn("machine drained", lf_str("MACHINE", c->machine), lf_str("ERROR", why));
	return control_order(c->db, c->machine, "", recheck_s(c), 10, "check", NULL, e);
}

int boot_machine_needs_control(struct job_ctx *c, struct err *e)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	int unproven = 0;
	int r;

	if (strcmp(json_str(c->payload, "reason", "check"), "failure") != 0)
		return 1;
	r = machine_get(c->db, c->machine, &m, e);
	if (r == 0)
		r = machine_unproven(c->db, c->machine, lab_unsure_classes(), &unproven, e);
	return r < 0 ? r : unproven > 0 || strcmp(m.health, "good") != 0;
}
