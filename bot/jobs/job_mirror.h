/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the mirror into the database. */
#pragma once

struct db;
struct err;
struct mirror;

/** job_mirror_store_commit() - read a commit from the mirror and store its row; once. */
int job_mirror_store_commit(struct db *db, struct mirror *m, const char *hash, struct err *e);
