/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by db.c and migrate.c only. */
#pragma once

struct db;
struct db_rows;
struct err;

/** db_raw_rows() - rows of a literal statement, for the schema table that exists before all others. */
int db_raw_rows(struct db *db, const char *sql, struct db_rows *ret, struct err *e);
