/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the past whose outputs are read again. */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct suite_metric;

/** struct run_filter - which runs; NULL is any. @since: a time that PostgreSQL understands. */
struct run_filter {
	const char *job, *commit, *since;
};

/** struct run_stored - a run. @raw, @errors: artefacts, "" for none. @files: monitors' artefacts. */
struct run_stored {
	int64_t id, boot, job;
	bool ok;
	char raw[65], errors[65];
	double run_s;
	json_t *about, *files;
};

/** run_stored_next() - at most @max runs with an id above @after, by id; run_stored_free() them. */
int run_stored_next(struct db *db, int64_t after, int64_t max, const struct run_filter *f,
		    struct run_stored **ret, size_t *ret_n, struct err *e);
void run_stored_free(struct run_stored *list, size_t n);

/**
 * run_stored_differs() - are these not the values that the run has?
 * Return: 1, 0, or an error.
 */
int run_stored_differs(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		       struct err *e);

/**
 * run_stored_set() - give it these values; in a transaction.
 * @why: it has no headline value: the reason; NULL: it is good.
 */
int run_stored_set(struct db *db, int64_t run, const struct suite_metric *metrics, size_t n,
		   const char *why, struct err *e);
