/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statements of sql/queries and the migrations of sql/migrations, embedded by sql/embed.cmake. */
#pragma once

#include "sql_embedded.h" /* enum sql_id */

/** struct sql_query - @name is "area/verb"; its id is SQL_AREA_VERB. */
struct sql_query {
	const char *name;
	const char *text;
};

/** struct sql_migration - versions count from 1 without gaps. */
struct sql_migration {
	int version;
	const char *name;
	const char *text;
};

extern const struct sql_query sql_queries[SQL_COUNT];
extern const struct sql_migration sql_migrations[];
extern const unsigned sql_migrations_n;
