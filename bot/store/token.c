/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/token.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <stdbool.h>
#include <string.h>

#define ALL_SCOPES "bisect, bisect-admin, test, triage, submit, admin"

static const char *const scopes_known[] = { "bisect", "bisect-admin", "test",
					    "triage", "submit",	      "admin" };

const char *token_scopes(void)
{
	return ALL_SCOPES;
}

static bool is_scope(const char *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(scopes_known); i++)
		if (!strcmp(s, scopes_known[i]))
			return true;
	return false;
}

int token_add(struct db *db, const char *name, const char *const *scopes, int64_t days,
	      char **ret_secret, struct err *e)
{
	_cleanup_(freep) char *array = NULL, *lives = NULL;
	char id[9], secret[65], hash[65];
	size_t n = 0;
	int r;

	if (!parse_name(name))
		return err_set(e, ERR_INVAL,
			       "'%s' is not a name: letters, digits, '.', '_', '-', at most 64",
			       name);
	for (; scopes[n]; n++)
		if (!is_scope(scopes[n]))
			return err_set(e, ERR_INVAL, "no scope '%s'; there are %s", scopes[n],
				       ALL_SCOPES);
	if (n == 0)
		return err_set(e, ERR_INVAL, "a token needs a scope; there are %s", ALL_SCOPES);
	if (days > 0)
		lives = xasprintf("%lld", (long long)days);
	array = db_text_array(scopes, n);
	id_new('t', id);
	random_hex(32, secret);
	file_sha256_hex(secret, 64, hash);
	r = db_run(db, SQL_API_TOKEN_ADD, NULL, e, "sssss", id, hash, name, array, lives);
	if (r < 0)
		return r;
	*ret_secret = xasprintf("kpb_%s_%s", id, secret);
	return 0;
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = words; (s = strstr(s, word)); s += n)
		if ((s == words || s[-1] == ' ') && (s[n] == ' ' || s[n] == '\0'))
			return true;
	return false;
}

/* Takes the same time wherever the two differ. */
static bool same_hash(const char *a, const char *b)
{
	volatile unsigned char diff = 0;

	if (strlen(a) != 64 || strlen(b) != 64)
		return false;
	for (int i = 0; i < 64; i++)
		diff |= (unsigned char)(a[i] ^ b[i]);
	return diff == 0;
}

/* Does @have hold one of the scopes of "a|b"? */
static bool has_scope(const char *have, const char *scopes)
{
	_cleanup_(freep) char *copy = xstrdup(scopes);
	char *rest = NULL;

	for (char *w = strtok_r(copy, "|", &rest); w; w = strtok_r(NULL, "|", &rest))
		if (has_word(have, w))
			return true;
	return false;
}

int token_check(struct db *db, const char *bearer, const char *scope, char ret_id[9], struct err *e)
{
	struct db_rows rows = { 0 };
	char id[9], hash[65];
	int r;

	/* kpb_ + 8 + _ + 64 */
	if (strncmp(bearer, "kpb_", 4) != 0 || strlen(bearer) != 77 || bearer[12] != '_')
		return err_set(e, ERR_AUTH, "the token has not the form kpb_ID_SECRET");
	(void)snprintf(id, sizeof(id), "%.8s", bearer + 4);
	file_sha256_hex(bearer + 13, 64, hash);
	if (!id_valid('t', id))
		return err_set(e, ERR_AUTH, "token not known");
	r = db_run_one(db, SQL_API_TOKEN_FIND, &rows, e, "s", id);
	if (r == ERR_NOENT)
		return err_set(e, ERR_AUTH, "token not known");
	if (r < 0)
		return r;
	if (!same_hash(db_str(&rows, 0, 0), hash))
		r = err_set(e, ERR_AUTH, "token not known");
	else if (!db_bool(&rows, 0, 2))
		r = err_set(e, ERR_AUTH, "token %s is %s", id, db_str(&rows, 0, 3));
	else if (!has_scope(db_str(&rows, 0, 1), scope))
		r = err_set(e, ERR_PERM, "token %s has not the scope '%s'", id, scope);
	db_rows_done(&rows);
	if (r < 0)
		return r;
	(void)snprintf(ret_id, 9, "%s", id);
	return db_run(db, SQL_API_TOKEN_USED, NULL, e, "s", id);
}

int token_revoke(struct db *db, const char *id, struct err *e)
{
	struct db_rows rows = { 0 };
	int64_t changed;
	int r = db_run(db, SQL_API_TOKEN_REVOKE, &rows, e, "s", id);

	if (r < 0)
		return r;
	changed = rows.affected;
	db_rows_done(&rows);
	return changed == 1 ? 0 : err_set(e, ERR_NOENT, "no valid token '%s'", id);
}

int token_list(struct db *db, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_API_TOKEN_LIST, &rows, e, "");

	if (r < 0)
		return r;
	r = json_read(db_str(&rows, 0, 0), strlen(db_str(&rows, 0, 0)), "list of tokens", ret, e);
	db_rows_done(&rows);
	return r;
}
