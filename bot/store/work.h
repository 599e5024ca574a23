/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue: rows of table work, claimed with a lease and a fence. Every later write names the
 * fence; no row back means that the lease is lost (ERR_LEASE_LOST): stop, and touch nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;

/**
 * struct work - a claimed row; work_done() frees it.
 * @payload: JSON text.
 * @attempts: this one included; @crashes: leases lost before.
 */
struct work {
	int64_t id;
	char *kind;
	char *payload;
	int64_t fence;
	int attempts;
	int crashes;
};
void work_done(struct work *w);

/**
 * work_enqueue() - ask for work; an equal open request (@dedupe) is joined.
 * @dedupe: NULL never joins.
 * @payload: JSON text.
 * @delay_s: not before this many seconds from now.
 */
int work_enqueue(struct db *db, const char *kind, int prio, double delay_s, const char *dedupe,
		 const char *payload, struct err *e);

/** work_enqueue_id() - dedupe "KIND:ID", payload {"KEY": ID} with a number. */
int work_enqueue_id(struct db *db, const char *kind, const char *key, int64_t id, int prio,
		    struct err *e);
/** work_enqueue_name() - dedupe "KIND:NAME", payload {"KEY": "NAME"}. */
int work_enqueue_name(struct db *db, const char *kind, const char *key, const char *name,
		      struct err *e);

/** work_claim() - take one row of these kinds. Return: 1 taken, 0 nothing to do, or an error. */
int work_claim(struct db *db, const char *const *kinds, size_t n, const char *owner, double lease_s,
	       struct work *ret, struct err *e);

/** work_claim_boot() - take a boot for @machine, and the machine. Return: as work_claim(). */
int work_claim_boot(struct db *db, const char *machine, const char *owner, double lease_s,
		    struct work *ret, struct err *e);

/** work_load() - the claimed row @id under @fence. ERR_LEASE_LOST. */
int work_load(struct db *db, int64_t id, int64_t fence, struct work *ret, struct err *e);

/**
 * work_heartbeat() - renew the leases @ids/@fences.
 * @lost: for each, set to true when its lease is lost or a person asked to cancel it.
 */
int work_heartbeat(struct db *db, const int64_t *ids, const int64_t *fences, size_t n,
		   double lease_s, bool *lost, struct err *e);

/** work_finish() - done; to be called in the transaction that stores the result. */
int work_finish(struct db *db, int64_t id, int64_t fence, struct err *e);
/** work_reschedule() - for work that recurs: ready again in @delay_s. @reason may be NULL. */
int work_reschedule(struct db *db, int64_t id, int64_t fence, double delay_s, const char *reason,
		    struct err *e);
/**
 * work_fail() - an own failure; ready again after @delay_s while attempts are left, or when it was
 * asked for anew meanwhile.
 */
int work_fail(struct db *db, int64_t id, int64_t fence, const char *reason, double delay_s,
	      int max_attempts, struct err *e);
/** work_crashed() - the worker died without a word. No error when it had finished. */
int work_crashed(struct db *db, int64_t id, int64_t fence, const char *how, struct err *e);

/** work_reap() - give back rows whose lease ran out. @ret_n: how many. */
int work_reap(struct db *db, int *ret_n, struct err *e);
/** work_release_owner() - give back what a dead process of this owner held. */
int work_release_owner(struct db *db, const char *owner, int *ret_n, struct err *e);
/** work_purge() - forget finished rows older than @days. */
int work_purge(struct db *db, double days, struct err *e);

/** work_backoff_s() - min(1 h, 10 s * 2^attempts) times @jitter in (0, 1]. Pure. */
double work_backoff_s(int attempts, double jitter);
