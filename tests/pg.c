/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/pg.h"

#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"
#include "bot/db/migrate.h"
#include "tests/test.h"

#include <string.h>
#include <sys/stat.h>

static char dir[] = "/tmp/kperfbot-test-XXXXXX";
static struct cluster *cluster;
static struct db *db;

static void connect_db(bool no_prepare)
{
	struct db_options o = { .conninfo = cluster_conninfo(cluster),
				.application = "test",
				.no_prepare = no_prepare };
	struct err e = { 0 };

	db_close(db);
	db = NULL;
	assert_ok(db_open(&o, &db, &e), &e);
}

int pg_start(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	assert_ok(cluster_start(dir, "postgres", &cluster, &e), &e);
	connect_db(true);
	/* The tests kill the server, never the machine. */
	pg_exec("ALTER SYSTEM SET fsync = off");
	pg_exec("ALTER SYSTEM SET full_page_writes = off");
	pg_exec("SELECT pg_reload_conf()");
	assert_ok(migrate_run(db, &e), &e);
	connect_db(false);
	return 0;
}

int pg_stop(void **state)
{
	struct err e = { 0 };

	(void)state;
	db_close(db);
	db = NULL;
	if (cluster)
		(void)cluster_stop(cluster, &e);
	cluster_free(cluster);
	cluster = NULL;
	(void)file_remove_tree(dir, &e);
	return 0;
}

const char *pg_conninfo(void)
{
	return cluster_conninfo(cluster);
}

const char *pg_dir(void)
{
	return dir;
}

struct db *pg_db(void)
{
	return db;
}

void pg_exec(const char *sql)
{
	struct err e = { 0 };

	assert_ok(db_exec(db, sql, &e), &e);
}

void pg_down(void)
{
	struct err e = { 0 };

	assert_ok(cluster_stop(cluster, &e), &e);
	cluster_free(cluster);
	cluster = NULL;
}

void pg_up(void)
{
	struct err e = { 0 };

	assert_ok(cluster_start(dir, "postgres", &cluster, &e), &e);
	connect_db(false);
}

/* Not TRUNCATE: it makes new files for each table and index. */
void pg_reset(void)
{
	pg_exec("DO $$ DECLARE t text; BEGIN SET LOCAL session_replication_role = replica; "
		"FOR t IN SELECT tablename FROM pg_tables "
		"WHERE schemaname = 'public' AND tablename NOT LIKE 'schema%' LOOP "
		"EXECUTE format('DELETE FROM %I', t); END LOOP; "
		"FOR t IN SELECT s.objid::regclass::text FROM pg_depend s JOIN pg_class c ON c.oid = s.objid "
		"WHERE c.relkind = 'S' AND s.deptype = 'i' LOOP "
		"PERFORM setval(t, 1, false); END LOOP; END $$");
}
