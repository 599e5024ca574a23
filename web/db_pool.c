/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/db_pool.h"

#include "bot/db/db.h"
#include "web/web.h"

#include <pthread.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void close_db(void *db)
{
	db_close(db);
}

static void make_key(void)
{
	(void)pthread_key_create(&key, close_db);
}

int db_pool_get(const struct web_options *o, struct db **ret, struct err *e)
{
	const struct db_options dbo = { .conninfo = o->conninfo,
					.role = "kperfbot_web",
					.application = "kperfbot web",
					.statement_timeout_ms = 2000 };
	struct db *db;
	int r;

	(void)pthread_once(&once, make_key);
	db = pthread_getspecific(key);
	if (!db) {
		r = db_open(&dbo, &db, e);
		if (r < 0)
			return r;
		(void)pthread_setspecific(key, db);
	}
	*ret = db;
	return 0;
}

void db_pool_drop(void)
{
	(void)pthread_once(&once, make_key);
	db_close(pthread_getspecific(key));
	(void)pthread_setspecific(key, NULL);
}
