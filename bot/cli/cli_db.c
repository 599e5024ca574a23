/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/cli_db.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/visible.h"
#include "bot/cli/cli.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

int cli_db(const struct cli *cli, struct config **ret_config, struct db **ret, struct err *e)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(freep) char *conninfo = NULL;
	struct db_options o = { .application = "kperfbot" };
	const char *given;
	int r;

	r = cli_config(cli, &c, e);
	if (r < 0)
		return r;
	given = config_str(c, "kperfbot", NULL, "database");
	conninfo = given ? xstrdup(given)
			 : cluster_path_conninfo(config_str(c, "kperfbot", NULL, "state"));
	o.conninfo = conninfo;
	r = db_open(&o, ret, e);
	if (r == ERR_DB_AWAY && !given) {
		struct err why = *e;

		return err_set(e, r, "%.900s; does kperfbotd run?", why.msg);
	}
	if (r < 0)
		return r;
	*ret_config = take_ptr(c);
	return 0;
}

void cli_out(const char *fmt, ...)
{
	_cleanup_(strbuf_done) struct strbuf raw = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf shown = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&raw, fmt, ap);
	va_end(ap);
	visible_add(&shown, strbuf_str(&raw), raw.len);
	(void)fputs(strbuf_str(&shown), stdout);
}

void cli_json(const json_t *j)
{
	_cleanup_(freep) char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (!text)
		abort();
	(void)puts(text);
}

void cli_state(const struct cli *cli, const char *state, int width)
{
	static const char *const bad[] = { "confirmed", "reported", "failed",	 "quarantined",
					   "bad",	"dead",	    "regression" };
	static const char *const good[] = { "done", "ok", "good", "fixed", "sent", "improvement" };
	const char *color = "";

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!strcmp(state, bad[i]))
			color = "\033[31m";
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (!strcmp(state, good[i]))
			color = "\033[32m";
	(void)printf("%s%-*s%s", cli->color ? color : "", width, state,
		     cli->color && *color ? "\033[m" : "");
}

void cli_regression_line(const struct cli *cli, const json_t *r)
{
	const json_t *culprit = json_object_get(r, "culprit");
	const json_t *effect = json_object_get(r, "effect");
	char p[PROBABILITY_TEXT];

	cli_out("%-9s ", json_str(r, "id", ""));
	cli_state(cli, json_str(r, "state", ""), 12);
	cli_out(" %+6.1f%%  %s  %s %s", json_f64(effect, "rel", NAN) * 100,
		json_str(json_object_get(r, "metric"), "name", ""), json_str(r, "tree", ""),
		json_str(r, "branch", ""));
	if (culprit)
		cli_out("  %.12s %.60s  P=%s", json_str(culprit, "commit", ""),
			json_str(culprit, "title", ""),
			probability_text(p, json_f64(culprit, "p", NAN)));
	if (!strcmp(json_str(r, "state", ""), "layout"))
		cli_out("  layout effect, not a regression of this commit");
	cli_out("\n");
}
