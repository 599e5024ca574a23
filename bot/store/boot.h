/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boots (one build on one machine) with their runs and the values measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct suite_metric;

/**
 * struct boot_order - a boot to be made.
 * @build: 0 on machines that boot nothing.
 * @comparison: 0, @bisection: NULL when another asked; both empty for a baseline.
 * @place: the only machine that may take it, or NULL. @prio: of the work; the larger the sooner.
 */
struct boot_order {
	const char *commit;
	int64_t build;
	int64_t job;
	int64_t comparison;
	const char *bisection;
	const char *place;
	int prio;
	int runs;
};

/** boot_order() - want a boot, as work for machine group @group. @queue false: when its build is there. */
int boot_order(struct db *db, const struct boot_order *o, const char *group, bool queue,
	       struct err *e);

/** struct boot - a row; boot_done() frees it. @bisection: "" when none. @control: of the control build. */
struct boot {
	int64_t id;
	char *uuid;
	char commit[41];
	int64_t build;
	int64_t job;
	int64_t comparison;
	char *bisection;
	int wanted_runs;
	char *state;
	bool control;
};
int boot_get(struct db *db, int64_t id, struct boot *ret, struct err *e);
void boot_done(struct boot *b);

/** struct boot_outcome - how a boot ended; borrowed, NULL or NAN where there is nothing. */
struct boot_outcome {
	bool failed;
	const char *class;
	const char *detail;
	const char *machine;
	const char *machine_boot_id;
	const char *accel;
	const char *suite_version;
	const char *facts;   /* JSON */
	const char *console; /* artefact */
	double boot_s, setup_s, took_s;
};

/** boot_finish() - store the end, once; ERR_CONFLICT when it had ended. In a transaction. */
int boot_finish(struct db *db, int64_t id, int64_t fence, const struct boot_outcome *o,
		struct err *e);

/** boot_exclude() - it does not count. */
int boot_exclude(struct db *db, int64_t id, struct err *e);

/** boot_cancel() - it is not needed any more. */
int boot_cancel(struct db *db, int64_t id, struct err *e);

/** boot_wake() - ask who wanted the boot to look again. In the same transaction. */
int boot_wake(struct db *db, int64_t id, struct err *e);

/** struct run_file - what a run left beside its output; borrowed. */
struct run_file {
	const char *name;
	char artefact[65];
	bool truncated;
};

/**
 * struct run_row - one run of a boot.
 * @raw: artefact or NULL. @about: JSON or NULL. @run_s, @host_s: NAN when it never ended.
 */
struct run_row {
	int n;
	const char *class;
	const char *detail;
	const char *raw;
	int exit_status;
	double wall_s, run_s, host_s;
	const char *about;
	const struct run_file *files;
	size_t nfiles;
};

/** run_values_set() - the values of a run, in place of those that it had. */
int run_values_set(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		   struct err *e);

/** run_add() - store a run and its values; metrics that are not known yet get a row. */
int run_add(struct db *db, int64_t boot, const struct run_row *run,
	    const struct suite_metric *metrics, size_t n, struct err *e);

/*
 * Failures of some classes may be the kernel's or the machine's. They are unproven until the same
 * machine has given a good boot, and lists of those classes (@unsure,
 * NULL-terminated) are given to whoever asks.
 */

/** boot_proven() - boot @id was good on @machine: what failed there before is the kernels' fault. */
int boot_proven(struct db *db, int64_t id, const char *machine, const char *const *unsure,
		struct err *e);

/**
 * boot_disown() - @machine was not sound: what it gave since its last good control boot does not
 * count, all of it or its unproven failures. @ret_n: boots taken out; may be NULL.
 */
int boot_disown(struct db *db, const char *machine, bool all, const char *const *unsure, int *ret_n,
		struct err *e);

/** struct boot_brief - what a bisection or comparison needs to know of a boot. */
struct boot_brief {
	int64_t id;
	char commit[41];
	bool wanted;   /* not made yet */
	bool ok;       /* has good runs and was not taken out */
	bool excluded; /* taken out: the machine was not sound */
	bool unproven; /* it failed, and nobody knows yet whose fault that is */
	char class[24];
	char bisection[9];
	int64_t comparison;
	char detail[256];
	double took_s;
	char machine[128]; /* "" until it ran; of boot_of_job() only, as is the next */
	char place[128];   /* the only machine that may take it, or "" */
};

/**
 * boot_of_job() - boots of @job of these commits, in the order in which they ran; free() it.
 * @machine: only those that ran there with the suite's newest version, or did not run yet; NULL: all.
 */
int boot_of_job(struct db *db, int64_t job, const char *machine, const char *const *commits,
		size_t n_commits, const char *const *unsure, struct boot_brief **ret, size_t *ret_n,
		struct err *e);
/** boot_of_comparison() - boots of a comparison in the order in which they were asked; free() it. */
int boot_of_comparison(struct db *db, int64_t comparison, const char *const *unsure,
		       struct boot_brief **ret, size_t *ret_n, struct err *e);

/** struct boot_value - one value of a boot. */
struct boot_value {
	int64_t boot;
	double value;
};
/** boot_values() - values of @metric in good runs of these boots; free() it. */
int boot_values(struct db *db, const int64_t *boots, size_t n, const char *metric,
		struct boot_value **ret, size_t *ret_n, struct err *e);

/** boot_cancel_bisection() - take back the boots that a bisection still waits for. */
int boot_cancel_bisection(struct db *db, const char *bisection, struct err *e);
