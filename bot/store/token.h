/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bearer tokens "kpb_ID_SECRET": 256 bits, stored hashed, shown once, scoped, expiring, revocable. */
#pragma once

#include "bot/base/json.h"

#include <stdint.h>

struct db;
struct err;

/** token_scopes() - names of all scopes with commas between, for messages. */
const char *token_scopes(void);

/**
 * token_add() - make a token.
 * @scopes: NULL-terminated.
 * @days: how long it lives; 0 is for ever.
 * @ret_secret: "kpb_ID_SECRET", the only time that it is seen; free() it.
 * Return: 0; ERR_INVAL: name or scope that is none.
 */
int token_add(struct db *db, const char *name, const char *const *scopes, int64_t days,
	      char **ret_secret, struct err *e);

/**
 * token_check() - does @bearer ("kpb_ID_SECRET") carry @scope, or one of "a|b"? Notes its use.
 * @ret_id: the token's id.
 * Return: 0; ERR_AUTH unknown, revoked or expired; ERR_PERM without that scope.
 */
int token_check(struct db *db, const char *bearer, const char *scope, char ret_id[9],
		struct err *e);

/** token_revoke() - ERR_NOENT: no such token, or revoked already. */
int token_revoke(struct db *db, const char *id, struct err *e);
/** token_list() - {"items":[{id,name,scopes,created,expires,last_use,revoked}]}, without secrets. */
int token_list(struct db *db, json_t **ret, struct err *e);
