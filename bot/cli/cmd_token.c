/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/vec.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/token.h"

#include <string.h>

struct token_args {
	const char *verb;
	const char *name;
	VEC(const char *) scopes;
	int64_t days;
};

static int take_scope(void *to, const char *value, struct err *e)
{
	struct token_args *a = to;

	(void)e;
	vec_push(&a->scopes, value);
	return 0;
}

static int read_options(struct cli *cli, int argc, char **argv, struct token_args *a)
{
	const struct cli_option options[] = { CLI_TAKE("scope", take_scope, a),
					      CLI_I64("days", &a->days, 1, 36500) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	a->verb = at < argc ? argv[at++] : "";
	a->name = at < argc ? argv[at++] : NULL;
	if (at < argc)
		return cli_usage(cli, "what is '%s'?", argv[at]);
	if (!strcmp(a->verb, "list") && !a->name)
		return 0;
	if ((!strcmp(a->verb, "add") || !strcmp(a->verb, "revoke")) && a->name)
		return 0;
	return cli_usage(cli, "say 'add NAME', 'list' or 'revoke ID'");
}

static int add(struct cli *cli, struct db *db, struct token_args *a)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	_cleanup_(freep) char *secret = NULL;
	struct err e = { 0 };

	vec_push(&a->scopes, NULL);
	if (token_add(db, a->name, a->scopes.items, a->days, &secret, &e) < 0)
		return cli_fail(cli, &e);
	if (cli->json) {
		j = json_object();
		json_set_str(j, "token", secret);
		cli_json(j);
	} else {
		(void)puts(secret);
		cli_note(cli, "this is the only time that it is shown");
	}
	return EXIT_DONE;
}

static int list(struct cli *cli, struct db *db)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	const json_t *items, *t, *scopes, *s;
	size_t i, k;

	if (token_list(db, &j, &e) < 0)
		return cli_fail(cli, &e);
	if (cli->json) {
		cli_json(j);
		return EXIT_DONE;
	}
	items = json_object_get(j, "items");
	json_array_foreach (items, i, t) {
		cli_out("%-9s %-20s", json_str(t, "id", ""), json_str(t, "name", ""));
		scopes = json_object_get(t, "scopes");
		json_array_foreach (scopes, k, s)
			cli_out("%s%s", k ? "," : " ", json_string_value(s));
		cli_out("  last used %s, %s %s\n", json_str(t, "last_use", "never"),
			json_str(t, "revoked", NULL) ? "revoked" : "expires",
			json_str(t, "revoked", json_str(t, "expires", "never")));
	}
	return EXIT_DONE;
}

int cmd_token(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct token_args a = { .verb = "" };
	struct err e = { 0 };
	int rc = read_options(cli, argc, argv, &a);

	if (rc == 0 && cli_db(cli, &c, &db, &e) < 0)
		rc = cli_fail(cli, &e);
	else if (rc == 0 && !strcmp(a.verb, "add"))
		rc = add(cli, db, &a);
	else if (rc == 0 && !strcmp(a.verb, "list"))
		rc = list(cli, db);
	else if (rc == 0 && token_revoke(db, a.name, &e) < 0)
		rc = cli_fail(cli, &e);
	vec_done(&a.scopes);
	return rc;
}
