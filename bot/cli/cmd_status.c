/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/page_read.h"

#include <math.h>
#include <string.h>

static void trees(const struct cli *cli, const json_t *j)
{
	const json_t *list = json_object_get(j, "trees"), *t, *heads, *b;
	size_t i, k;

	cli_out("trees\n");
	json_array_foreach (list, i, t) {
		heads = json_object_get(t, "heads");
		cli_out("  %s, fetched %s\n", json_str(t, "name", ""),
			json_str(t, "last_ok", "never"));
		if (json_str(t, "last_error", NULL)) {
			cli_out("    ");
			if (json_i64(t, "failures", 0)) {
				cli_state(cli, "failed", 0);
				cli_out(" %lld times: ", (long long)json_i64(t, "failures", 0));
			}
			cli_out("%.200s\n", json_str(t, "last_error", ""));
		}
		json_array_foreach (heads, k, b)
			cli_out("    %-20s %.12s %.60s%s\n", json_str(b, "branch", ""),
				json_str(b, "commit", ""), json_str(b, "title", ""),
				json_is_true(json_object_get(b, "tested")) ? ""
									   : " (not measured)");
	}
}

static void counts(const json_t *j)
{
	const json_t *work = json_object_get(j, "work"), *builds = json_object_get(j, "builds");
	const json_t *boots = json_object_get(j, "boots"), *mails = json_object_get(j, "mails");

	cli_out("work    %lld ready, %lld running, %lld failed, %lld quarantined\n",
		(long long)json_i64(work, "ready", 0), (long long)json_i64(work, "leased", 0),
		(long long)json_i64(work, "failed", 0),
		(long long)json_i64(work, "quarantined", 0));
	cli_out("builds  %lld ok, %lld failed, %lld wanted\n", (long long)json_i64(builds, "ok", 0),
		(long long)json_i64(builds, "failed", 0), (long long)json_i64(builds, "wanted", 0));
	cli_out("boots   %lld done, %lld failed, %lld wanted; %lld runs\n",
		(long long)json_i64(boots, "done", 0), (long long)json_i64(boots, "failed", 0),
		(long long)json_i64(boots, "wanted", 0), (long long)json_i64(j, "runs", 0));
	cli_out("mails   %lld sent, %lld queued, %lld held, %lld dead\n",
		(long long)json_i64(mails, "sent", 0), (long long)json_i64(mails, "queued", 0),
		(long long)json_i64(mails, "held", 0), (long long)json_i64(mails, "dead", 0));
}

static void machines(const struct cli *cli, const json_t *j)
{
	const json_t *list = json_object_get(j, "machines"), *m;
	size_t i;

	cli_out("machines\n");
	json_array_foreach (list, i, m) {
		cli_out("  %-20s ", json_str(m, "name", ""));
		cli_state(cli, json_str(m, "health", ""), 11);
		cli_out(" %s %.100s\n", json_is_true(json_object_get(m, "busy")) ? "busy" : "idle",
			json_str(m, "note", ""));
	}
}

static void searches(const struct cli *cli, const json_t *j)
{
	const json_t *list = json_object_get(j, "comparisons"), *k;
	size_t i;

	json_array_foreach (list, i, k) {
		if (i == 0)
			cli_out("comparing\n");
		cli_out("  %s %s %.12s..%.12s %s: %s", json_str(k, "tree", ""),
			json_str(k, "branch", ""), json_str(k, "base", ""), json_str(k, "head", ""),
			json_str(k, "job", ""), json_str(k, "verdict", "not-enough-data"));
		if (json_object_get(k, "rel"))
			cli_out(" %+.1f%%", json_f64(k, "rel", NAN) * 100);
		cli_out(", look %lld\n", (long long)json_i64(k, "look", 0));
	}
	list = json_object_get(j, "bisections");
	json_array_foreach (list, i, k) {
		if (i == 0)
			cli_out("bisecting\n");
		cli_out("  %s %s %.12s..%.12s %s, %lld steps %.80s\n", json_str(k, "id", ""),
			json_str(k, "state", ""), json_str(k, "good", ""), json_str(k, "bad", ""),
			json_str(k, "job", ""),
			(long long)json_i64(json_object_get(k, "steps"), "done", 0),
			json_str(k, "state_text", ""));
	}
	list = json_object_get(j, "regressions");
	json_array_foreach (list, i, k) {
		if (i == 0)
			cli_out("regressions\n");
		cli_out("  ");
		cli_regression_line(cli, k);
	}
}

int cmd_status(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	int at = cli_options(cli, argc, argv, NULL, 0);

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc)
		return cli_usage(cli, "takes no argument");
	if (cli_db(cli, &c, &db, &e) < 0 || page_overview(db, &j, &e) < 0)
		return cli_fail(cli, &e);
	if (cli->json) {
		cli_json(j);
		return EXIT_DONE;
	}
	trees(cli, j);
	machines(cli, j);
	counts(j);
	searches(cli, j);
	return EXIT_DONE;
}
