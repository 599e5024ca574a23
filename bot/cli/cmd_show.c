/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/cmd_show_series.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/page_read.h"

#include <math.h>
#include <string.h>

static void side(const char *name, const json_t *c, const json_t *s)
{
	cli_out("%-9s %.12s %.60s", name, json_str(c, "commit", ""), json_str(c, "title", ""));
	if (s)
		cli_out("  mean %.8g, sd %.3g, %lld runs on %lld boots", json_f64(s, "mean", NAN),
			json_f64(s, "sd", NAN), (long long)json_i64(s, "n", 0),
			(long long)json_i64(s, "boots", 0));
	cli_out("\n");
}

/* What was looked at before it was believed, such as code layout. */
static void show_check(const json_t *c)
{
	const json_t *ok = json_object_get(c, "ok");
	bool align = !strcmp(json_str(c, "name", ""), "align64");

	cli_out("check     %s: ", align ? "64-byte aligned functions" : json_str(c, "name", "?"));
	if (!json_is_number(json_object_get(c, "rel"))) {
		cli_out("%.100s\n", json_str(c, "text", ok ? "not measured" : "being measured"));
		return;
	}
	cli_out("%+.1f%% (%+.1f .. %+.1f)", json_f64(c, "rel", NAN) * 100,
		json_f64(c, "lo", NAN) * 100, json_f64(c, "hi", NAN) * 100);
	if (ok && align)
		cli_out(json_is_true(ok) ? ", so not code layout"
					 : ", so code layout may be the cause");
	else if (ok)
		cli_out(json_is_true(ok) ? ", ok" : ", NOT ok");
	cli_out("\n");
}

/* Which comparison found it, and what it says in words. */
static void found_by(const json_t *j)
{
	const json_t *k = json_object_get(j, "comparison"), *f, *t;
	size_t i, n;

	if (!k)
		return;
	cli_out("found     by comparison %lld%s\n", (long long)json_i64(k, "id", 0),
		!strcmp(json_str(k, "purpose", ""), "confirm") ? ", of a step in the history" : "");
	json_array_foreach (json_object_get(j, "findings"), i, f) {
		json_array_foreach (json_object_get(f, "text"), n, t)
			if (json_is_string(t))
				cli_out("          %.300s\n", json_string_value(t));
	}
}

/* A commit that claims to fix the culprit, or to take it back. */
static void show_fix(const json_t *f)
{
	bool reverts = !strcmp(json_str(f, "says", ""), "reverts");

	cli_out("%s %.12s %.60s  %s\n", reverts ? "undone?  " : "fixed?   ",
		json_str(f, "commit", ""), json_str(f, "title", ""),
		json_is_true(json_object_get(f, "measured"))
			? "by its own words"
			: "by its own words, not measured yet");
}

static void show_regression(const struct cli *cli, const json_t *j)
{
	const json_t *effect = json_object_get(j, "effect"),
		     *culprit = json_object_get(j, "culprit");
	const json_t *history = json_object_get(j, "history"), *h;
	const json_t *checks = json_object_get(j, "checks");
	char p[PROBABILITY_TEXT];
	size_t i;

	cli_out("%s ", json_str(j, "id", ""));
	cli_state(cli, json_str(j, "state", ""), 0);
	cli_out("  %s %+.1f%% (%+.1f .. %+.1f)\n",
		json_str(json_object_get(j, "metric"), "name", ""),
		json_f64(effect, "rel", NAN) * 100, json_f64(effect, "lo", NAN) * 100,
		json_f64(effect, "hi", NAN) * 100);
	if (!strcmp(json_str(j, "state", ""), "layout"))
		cli_out("          layout effect, not a regression of this commit\n");
	cli_out("where     %s %s, job %s on %s\n", json_str(j, "tree", ""),
		json_str(j, "branch", ""), json_str(j, "job", ""), json_str(j, "machine", ""));
	side("base", json_object_get(j, "base"), json_object_get(effect, "base"));
	side("head", json_object_get(j, "head"), json_object_get(effect, "head"));
	if (culprit)
		cli_out("culprit   %.12s %.60s  P=%s\n", json_str(culprit, "commit", ""),
			json_str(culprit, "title", ""),
			probability_text(p, json_f64(culprit, "p", NAN)));
	json_array_foreach (json_object_get(j, "possibly_fixed"), i, h)
		show_fix(h);
	if (json_str(j, "bisect", NULL))
		cli_out("bisection %s\n", json_str(j, "bisect", ""));
	found_by(j);
	json_array_foreach (checks, i, h)
		show_check(h);
	json_array_foreach (history, i, h)
		cli_out("%s  %s by %s: %.160s\n", json_str(h, "at", ""), json_str(h, "to", ""),
			json_str(h, "by", ""), json_str(h, "why", ""));
}

/* A run that failed, or that is not measured yet, has none. */
static void show_value(const json_t *v)
{
	if (json_is_number(v))
		cli_out(" %.8g", json_number_value(v));
	else
		cli_out(" -");
}

static void show_commit(const struct cli *cli, const json_t *j)
{
	const json_t *list = json_object_get(j, "builds"), *b;
	size_t i;

	cli_out("%s %.100s\n%s, %s\n", json_str(j, "commit", ""), json_str(j, "title", ""),
		json_str(j, "author", ""), json_str(j, "author_time", ""));
	json_array_foreach (list, i, b) {
		cli_out("build %lld %s%s%s ", (long long)json_i64(b, "id", 0),
			json_str(b, "kconfig", ""), json_str(b, "variant", NULL) ? "+" : "",
			json_str(b, "variant", ""));
		cli_state(cli, json_str(b, "state", ""), 0);
		cli_out(" %s %.200s\n", json_str(b, "class", ""), json_str(b, "detail", ""));
	}
	list = json_object_get(j, "boots");
	json_array_foreach (list, i, b) {
		const json_t *runs = json_object_get(b, "runs"), *r;
		size_t k;

		cli_out("boot %lld %s on %s ", (long long)json_i64(b, "id", 0),
			json_str(b, "job", ""), json_str(b, "machine", "?"));
		cli_state(cli, json_str(b, "state", ""), 0);
		json_array_foreach (runs, k, r)
			show_value(json_object_get(r, "value"));
		cli_out(" %.200s\n", json_str(b, "detail", ""));
	}
	list = json_object_get(j, "regressions");
	json_array_foreach (list, i, b)
		cli_out("regression %s %s %+.1f%%%s\n", json_str(b, "id", ""),
			json_str(b, "metric", ""), json_f64(b, "rel", NAN) * 100,
			json_is_true(json_object_get(b, "blamed")) ? ", blamed on this commit"
								   : "");
}

static void show_bisection(const json_t *j)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	page_bisection_log(j, &b);
	cli_out("%s", strbuf_str(&b));
}

int cmd_show(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(json_decrefp) json_t *j = NULL;
	const struct page_span span = { .limit = 300 };
	struct err e = { 0 };
	const char *id;
	char kind = 'c';
	int at = cli_options(cli, argc, argv, NULL, 0), r;

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1)
		return cli_usage(cli, "say which regression, bisection, series or commit");
	id = argv[at];
	if (id_valid('r', id) || id_valid('b', id) || id_valid('s', id))
		kind = id[0];
	/* Eight hex digits beginning with b may be either; what exists is meant. */
	if (kind == 'c' && (strlen(id) < 8 || strspn(id, "0123456789abcdef") != strlen(id)))
		return cli_usage(
			cli, "'%s' is no id (r…, b… or s…) and no hash of 8 to 40 hex digits", id);
	r = cli_db(cli, &c, &db, &e);
	if (r == 0)
		r = kind == 'r'	  ? page_regression(db, id, &j, &e)
		    : kind == 'b' ? page_bisection(db, id, &j, &e)
		    : kind == 's' ? page_series(db, id, &span, &j, &e)
				  : page_commit(db, id, &j, &e);
	if (r == ERR_NOENT && kind == 'b' && page_commit(db, id, &j, NULL) == 0) {
		kind = 'c';
		r = 0;
	}
	if (r < 0)
		return cli_fail(cli, &e);
	if (cli->json)
		cli_json(j);
	else if (kind == 'r')
		show_regression(cli, j);
	else if (kind == 'b')
		show_bisection(j);
	else if (kind == 's')
		show_series(cli, j);
	else
		show_commit(cli, j);
	return EXIT_DONE;
}
