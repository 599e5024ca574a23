/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A private PostgreSQL for the tests of one executable: started once, gone at its end. */
#pragma once

struct db;

/** pg_start() - group fixture for cmocka: cluster with the newest schema. Return: 0. */
int pg_start(void **state);
/** pg_stop() - group fixture: stops the server and removes its folder. */
int pg_stop(void **state);

/** pg_conninfo() - how to connect. */
const char *pg_conninfo(void);
/** pg_dir() - a folder for this executable, removed at the end. */
const char *pg_dir(void);

/** pg_db() - the connection of the test, as owner of everything. */
struct db *pg_db(void);

/** pg_exec() - run statements, fail the test when they do not work. */
void pg_exec(const char *sql);

/** pg_down(), pg_up() - take the server away and bring it back. */
void pg_down(void);
void pg_up(void);

/** pg_reset() - empty all tables. */
void pg_reset(void);
