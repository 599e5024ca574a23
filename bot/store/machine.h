/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lab machines as rows: health, faults, control builds.
 *
 * health: good (works), suspect (only its control build may run until that says more), quarantined
 * (by us, after faults or drift; the control build is tried now and then and lets it out again),
 * maintenance (a person drained it), retired.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct db;
struct err;

/** machine_sync() - make the rows of all [machine] sections. */
int machine_sync(struct db *db, const struct config *c, struct err *e);
/** machine_group() - group of a configured machine; belongs to @c. */
const char *machine_group(const struct config *c, const char *machine);

/** struct machine - a row; machine_done() frees it. @failed_checks: since it was drained. */
struct machine {
	char *name;
	char *group;
	char *driver;
	char *health;
	char *note;
	char *drained_by;
	int failed_checks;
};
/** machine_get() - ERR_NOENT: there is no such machine. */
int machine_get(struct db *db, const char *name, struct machine *ret, struct err *e);
void machine_done(struct machine *m);

enum machine_outcome {
	MACHINE_OK,
	MACHINE_FAULT, /* of the machine or its wiring; the third in a row quarantines it */
	MACHINE_FAILED, /* kernel or machine, nobody knows yet; the second in a row makes it suspect */
	MACHINE_SILENT, /* says nothing about the machine */
};

/**
 * machine_outcome() - how a boot ended there. @why: NULL when MACHINE_OK.
 * @ret_changed: its health is another now; may be NULL.
 */
int machine_outcome(struct db *db, const char *machine, enum machine_outcome o, const char *why,
		    bool *ret_changed, struct err *e);

/**
 * machine_health() - give it a health.
 * @by: "kperfbot" or who says so. @event: kind of the event that is kept.
 * @checked: its control build has just been measured.
 * Return: 0; ERR_NOENT.
 */
int machine_health(struct db *db, const char *machine, const char *health, const char *by,
		   const char *why, const char *event, bool checked, struct err *e);

/**
 * machine_unproven() - boots there that failed with one of the classes @unsure (NULL-terminated), and no
 * good boot has shown since that the machine was not why.
 */
int machine_unproven(struct db *db, const char *machine, const char *const *unsure, int *ret,
		     struct err *e);

/** machine_state() - what its boot does now; nothing happens when the fence is an old one. */
int machine_state(struct db *db, const char *machine, const char *state, int64_t fence,
		  struct err *e);

/**
 * machine_repin() - move what waits for machines that are drained since @after_s, that no role lab has
 * looked after for @away_s, or that are of another group now.
 */
int machine_repin(struct db *db, double after_s, double away_s, struct err *e);

/**
 * machine_look_after() - a sign of life, and what would wait for ever otherwise: the control build for a
 * machine that is drained or has unproven failures (classes @unsure) while none is wanted, after @recheck_s;
 * without a control build it is tried again with whatever comes.
 */
int machine_look_after(struct db *db, const char *machine, double recheck_s,
		       const char *const *unsure, struct err *e);

/** control_keep() - boot @boot was good: is there no control build yet, it is that one. */
int control_keep(struct db *db, int64_t boot, struct err *e);

/**
 * control_order() - want the control build on @machine, in @delay_s.
 * @kconfig: the one to prefer; "" any.
 * @reason: "failure": not needed any more once another build has booted; "check": in any case, but not in
 * maintenance; "asked": by a person, there too.
 * @ret_boot: 0 when the group has none yet, or one is wanted already; may be NULL.
 */
int control_order(struct db *db, const char *machine, const char *kconfig, double delay_s, int prio,
		  const char *reason, int64_t *ret_boot, struct err *e);

/**
 * control_hurry() - the control boot that is wanted is to be made before all others.
 * @ret_boot: 0 when none is wanted.
 */
int control_hurry(struct db *db, const char *machine, int64_t *ret_boot, struct err *e);

/** control_due() - order a control boot if @every_s or @boots have passed since the last. */
int control_due(struct db *db, const char *machine, double every_s, int64_t boots, struct err *e);

/** control_values() - of the control boots like @boot on @machine, oldest first; free() it. */
int control_values(struct db *db, const char *machine, int64_t boot, double **ret, size_t *ret_n,
		   struct err *e);
