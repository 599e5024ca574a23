/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/machine.h"
#include "bot/store/page_read.h"

#include <math.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct machine_args {
	const char *verb, *name, *why;
	bool now, wait;
};

static int read_options(struct cli *cli, int argc, char **argv, struct machine_args *a)
{
	const struct cli_option options[] = { CLI_TEXT("why", &a->why), CLI_FLAG("now", &a->now),
					      CLI_FLAG("wait", &a->wait) };
	static const char *const verbs[] = { "show", "drain", "undrain", "check", NULL };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	a->verb = at < argc ? argv[at++] : "";
	a->name = at < argc ? argv[at++] : NULL;
	if (at < argc)
		return cli_usage(cli, "what is '%s'?", argv[at]);
	if (!strcmp(a->verb, "list") && !a->name)
		return 0;
	for (int i = 0; verbs[i] && a->name; i++) {
		if (strcmp(verbs[i], a->verb) != 0)
			continue;
		if (!strcmp(a->verb, "drain") && (!a->why || !*a->why))
			return cli_usage(cli, "say --why it is drained: others will want to know");
		return 0;
	}
	return cli_usage(cli, "say 'list', or one of show, drain, undrain and check with the name "
			      "of a machine");
}

/* "1.4 s", or "-" where it is not known. */
static const char *seconds(const json_t *m, const char *key, char buf[24])
{
	double s = json_f64(m, key, NAN);

	if (isfinite(s))
		(void)snprintf(buf, 24, "%.1f s", s);
	else
		(void)snprintf(buf, 24, "-");
	return buf;
}

static const char *percent(const json_t *m, const char *key, char buf[24])
{
	double v = json_f64(m, key, NAN);

	if (isfinite(v))
		(void)snprintf(buf, 24, "%.0f %%", 100 * v);
	else
		(void)snprintf(buf, 24, "-");
	return buf;
}

static void drained(const json_t *m)
{
	if (json_str(m, "note", NULL))
		cli_out("  %s by %s at %s: %.200s\n", json_str(m, "health", ""),
			json_str(m, "drained_by", "?"), json_str(m, "drained_at", "?"),
			json_str(m, "note", ""));
}

static int list(struct cli *cli, struct db *db)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	const json_t *m;
	char buf[4][24];
	size_t i;

	if (page_machines(db, &j, &e) < 0)
		return cli_fail(cli, &e);
	if (cli->json) {
		cli_json(j);
		return EXIT_DONE;
	}
	if (!json_array_size(json_object_get(j, "items")))
		cli_note(cli, "no machine is known; kperfbotd reads the [machine] sections when "
			      "its role lab starts");
	json_array_foreach (json_object_get(j, "items"), i, m) {
		if (i == 0)
			cli_out("%-20s %-12s %-8s %-11s %-10s %6s %6s %9s %9s %6s\n", "machine",
				"group", "driver", "health", "state", "boots", "failed", "boot",
				"a run", "idle");
		cli_out("%-20s %-12s %-8s ", json_str(m, "name", ""), json_str(m, "group", ""),
			json_str(m, "driver", ""));
		cli_state(cli, json_str(m, "health", ""), 11);
		cli_out(" %-10s %6lld %6lld %9s %9s %6s\n", json_str(m, "state", ""),
			(long long)json_i64(m, "boots", 0), (long long)json_i64(m, "failed", 0),
			seconds(m, "boot_s", buf[0]), seconds(m, "overhead_s", buf[1]),
			percent(m, "idle", buf[2]));
		drained(m);
	}
	return EXIT_DONE;
}

static void show_boots(const json_t *m)
{
	const json_t *b;
	char buf[3][24];
	size_t i;

	json_array_foreach (json_object_get(m, "recent"), i, b) {
		if (i == 0)
			cli_out("boots, newest first\n");
		cli_out("  %s %8lld %.12s %-20.20s %-8s %-12s boot %s, set-up %s, in all %s%s%s\n",
			json_str(b, "at", ""), (long long)json_i64(b, "boot", 0),
			json_str(b, "commit", ""), json_str(b, "job", ""),
			json_str(b, "purpose", ""), json_str(b, "class", ""),
			seconds(b, "boot_s", buf[0]), seconds(b, "setup_s", buf[1]),
			seconds(b, "took_s", buf[2]),
			json_is_true(json_object_get(b, "excluded")) ? ", does not count" : "",
			json_object_get(b, "proven_by") ? ", proven by the control build" : "");
		if (json_str(b, "detail", NULL))
			cli_out("    %.200s\n", json_str(b, "detail", ""));
	}
}

static void show_controls(const json_t *m)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(m, "controls"), i, c) {
		if (i == 0)
			cli_out("control build, newest first\n");
		cli_out("  %s %.12s %-12s %s %.8g%s\n", json_str(c, "at", ""),
			json_str(c, "commit", ""), json_str(c, "class", ""),
			json_str(c, "metric", ""), json_f64(c, "value", NAN),
			json_is_true(json_object_get(c, "excluded")) ? ", does not count" : "");
	}
}

static void show_facts(const json_t *facts)
{
	const char *key;
	json_t *v;

	if (!json_object_size(facts))
		return;
	cli_out("facts at the last boot\n");
	json_object_foreach ((json_t *)(uintptr_t)facts, key, v) {
		if (json_is_string(v))
			cli_out("  %-20s %.160s\n", key, json_string_value(v));
		else if (json_is_integer(v))
			cli_out("  %-20s %lld\n", key, (long long)json_integer_value(v));
	}
}

static int show(struct cli *cli, struct db *db, const char *name)
{
	_cleanup_(json_decrefp) json_t *m = NULL;
	struct err e = { 0 };
	const json_t *control, *v;
	char buf[4][24];
	size_t i;

	if (page_machine(db, name, &m, &e) < 0)
		return cli_fail(cli, &e);
	if (cli->json) {
		cli_json(m);
		return EXIT_DONE;
	}
	control = json_object_get(m, "control");
	cli_out("machine %s, group %s, driver %s\n  health ", json_str(m, "name", ""),
		json_str(m, "group", ""), json_str(m, "driver", ""));
	cli_state(cli, json_str(m, "health", ""), 0);
	cli_out(", %s, last seen %s, %lld boots wait\n", json_str(m, "state", ""),
		json_str(m, "last_seen", "never"), (long long)json_i64(m, "waiting", 0));
	drained(m);
	cli_out("  last 7 days: %lld boots, %lld failed; medians: power-on to agent %s, agent to "
		"run %s, a run beside its commands %s; idle on the last day %s\n",
		(long long)json_i64(m, "boots", 0), (long long)json_i64(m, "failed", 0),
		seconds(m, "boot_s", buf[0]), seconds(m, "setup_s", buf[1]),
		seconds(m, "overhead_s", buf[2]), percent(m, "idle", buf[3]));
	if (control)
		cli_out("  control build %.12s (%.60s), job %s, measured last %s\n",
			json_str(control, "commit", ""), json_str(control, "title", ""),
			json_str(control, "job", ""), json_str(m, "last_check", "never"));
	else
		cli_out("  no control build yet: the first good boot of the group makes it\n");
	show_controls(m);
	json_array_foreach (json_object_get(m, "events"), i, v) {
		if (i == 0)
			cli_out("events, newest first\n");
		cli_out("  %s %-9s %s: %.200s\n", json_str(v, "at", ""), json_str(v, "kind", ""),
			json_str(v, "by", ""), json_str(v, "text", ""));
	}
	show_boots(m);
	show_facts(json_object_get(m, "facts"));
	return EXIT_DONE;
}

/* Who does it, for others to ask. */
static const char *who(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *pw = getpwuid(getuid()); /* NOLINT(concurrency-mt-unsafe) */

	if (sudo && *sudo)
		return sudo;
	return pw ? pw->pw_name : "somebody";
}

static int say(const struct cli *cli, const char *name, const char *health, const char *text)
{
	_cleanup_(json_decrefp) json_t *j = NULL;

	if (cli->json) {
		j = json_object();
		json_set_str(j, "machine", name);
		json_set_str(j, "health", health);
		json_set_str(j, "text", text);
		cli_json(j);
	} else {
		cli_out("%s: %s\n", name, text);
	}
	return EXIT_DONE;
}

static int drain(struct cli *cli, struct db *db, const struct machine_args *a)
{
	struct err e = { 0 };

	if (machine_health(db, a->name, "maintenance", who(), a->why, "drain", false, &e) < 0)
		return cli_fail(cli, &e);
	return say(cli, a->name, "maintenance",
		   "drained; a boot that it runs now is still finished");
}

/* Asks for the control build. @ret_boot: 0 when the group has none. */
static int order_check(struct db *db, const char *name, int64_t *ret_boot, struct err *e)
{
	int r;

	r = control_hurry(db, name, ret_boot, e);
	if (r == 0 && !*ret_boot)
		r = control_order(db, name, "", 0, 10, "asked", ret_boot, e);
	if (r == 0)
		r = db_exec(db, "NOTIFY work", e);
	return r;
}

static int undrain(struct cli *cli, struct db *db, const struct machine_args *a)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	struct err e = { 0 };
	int64_t boot = 0;
	int r;

	r = machine_get(db, a->name, &m, &e);
	if (r == ERR_NOENT)
		r = err_set(&e, ERR_NOENT, "there is no machine '%.80s'", a->name);
	if (r < 0)
		return cli_fail(cli, &e);
	if (!strcmp(m.health, "good"))
		return say(cli, a->name, "good", "is not drained");
	if (!a->now)
		r = order_check(db, a->name, &boot, &e);
	if (r == 0)
		r = machine_health(db, a->name, boot ? "suspect" : "good", who(),
				   a->why ? a->why : "undrained", "undrain", false, &e);
	if (r < 0)
		return cli_fail(cli, &e);
	return boot ? say(cli, a->name, "suspect",
			  "its control build is measured, then it works again")
		    : say(cli, a->name, "good", "works again");
}

/* Waits for a boot of machine @name. Return: exit code, by how it ended. */
static int wait_for(struct cli *cli, struct db *db, const char *name, int64_t boot)
{
	const struct timespec pause = { .tv_sec = 1 };
	struct err e = { 0 };

	for (int tick = 0;; tick++) {
		_cleanup_(json_decrefp) json_t *m = NULL;
		const json_t *c;
		size_t i;

		if (page_machine(db, name, &m, &e) < 0)
			return cli_fail(cli, &e);
		json_array_foreach (json_object_get(m, "controls"), i, c) {
			bool ok = !strcmp(json_str(c, "class", ""), "ok");

			if (json_i64(c, "boot", 0) != boot)
				continue;
			cli_out("%s: control boot %lld %s; health %s\n", name, (long long)boot,
				json_str(c, "class", ""), json_str(m, "health", ""));
			return ok && !strcmp(json_str(m, "health", ""), "good") ? EXIT_DONE
										: EXIT_WORSE;
		}
		if (tick % 30 == 0)
			cli_note(cli, "waiting for control boot %lld, the machine is %s",
				 (long long)boot, json_str(m, "state", ""));
		(void)nanosleep(&pause, NULL);
	}
}

static int check(struct cli *cli, struct db *db, const struct machine_args *a)
{
	_cleanup_(machine_done) struct machine m = { 0 };
	struct err e = { 0 };
	int64_t boot = 0;
	int r;

	r = machine_get(db, a->name, &m, &e);
	if (r == ERR_NOENT)
		r = err_set(&e, ERR_NOENT, "there is no machine '%.80s'", a->name);
	if (r == 0)
		r = order_check(db, a->name, &boot, &e);
	if (r == 0 && !boot)
		r = err_set(&e, ERR_CONFLICT,
			    "group '%s' has no control build yet: its first good boot makes it",
			    m.group);
	if (r < 0)
		return cli_fail(cli, &e);
	if (a->wait)
		return wait_for(cli, db, a->name, boot);
	return say(cli, a->name, m.health, "its control build is measured next");
}

int cmd_machine(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct machine_args a = { .verb = "" };
	struct err e = { 0 };
	int rc = read_options(cli, argc, argv, &a);

	if (rc)
		return rc;
	if (cli_db(cli, &c, &db, &e) < 0)
		return cli_fail(cli, &e);
	if (!strcmp(a.verb, "list"))
		return list(cli, db);
	if (!strcmp(a.verb, "show"))
		return show(cli, db, a.name);
	if (!strcmp(a.verb, "drain"))
		return drain(cli, db, &a);
	if (!strcmp(a.verb, "undrain"))
		return undrain(cli, db, &a);
	return check(cli, db, &a);
}
