/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schema versions: each migration runs once, in a transaction, and is remembered with its hash. */
#pragma once

#include <stdbool.h>

struct db;
struct err;

/** struct migrate_status - @have, @want: schema versions; @have 0 is an empty database. */
struct migrate_status {
	int have;
	int want;
};

/**
 * migrate_status() - compare the database with the embedded migrations.
 * Return: 0; ERR_SCHEMA when the database is newer than this program, or a migration that it ran
 * has another hash than ours.
 */
int migrate_status(struct db *db, struct migrate_status *ret, struct err *e);

/**
 * migrate_run() - bring the schema up to date, under an advisory lock.
 * @db: opened with no_prepare.
 * Return: number of migrations run, or an error as migrate_status(), ERR_DB, ERR_DB_AWAY.
 */
int migrate_run(struct db *db, struct err *e);
