/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/store/comparison.h"
#include "bot/store/outbox.h"

#include <string.h>

struct release {
	const char *regression;
	int64_t outbox;
	int released;
};

static int release_mail(struct db *db, void *arg, struct err *e)
{
	struct release *x = arg;
	int r;

	r = outbox_release(db, x->outbox, e);
	x->released = r;
	if (r <= 0)
		return r;
	r = regression_state(db, x->regression, "confirmed", "reported", "operator",
			     "released by moderator", e);
	return r == ERR_CONFLICT ? 0 : r;
}

static bool confirmed(int held)
{
	char answer[8] = "";

	(void)fprintf(stderr, "send this mail to %d recipients? [y/N] ", held);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int release(struct cli *cli, struct db *db, const char *id, const struct outbox_stored *mail,
		   bool yes)
{
	struct release x = { .regression = id, .outbox = mail->id };
	struct err e = { 0 };

	if (!mail->held) {
		cli_note(cli, "nothing is held: %d recipients are queued or done", mail->rcpts);
		return EXIT_DONE;
	}
	if (!yes && !confirmed(mail->held)) {
		cli_note(cli, "not sent");
		return EXIT_WORSE;
	}
	if (db_tx(db, release_mail, &x, &e) < 0)
		return cli_fail(cli, &e);
	(void)db_exec(db, "NOTIFY work", NULL);
	cli_note(cli, "released to %d recipients", x.released);
	return EXIT_DONE;
}

int cmd_report(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct outbox_stored mail = { 0 };
	bool send = false, yes = false;
	const struct cli_option options[] = { CLI_FLAG("send", &send), CLI_FLAG("yes", &yes) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));
	const char *id = at >= 0 && at < argc ? argv[at] : NULL;
	struct err e = { 0 };
	int r = EXIT_DONE;

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at > 1)
		return cli_usage(cli, "unexpected argument '%s'", argv[at + 1]);
	if (!id || !id_valid('r', id))
		return cli_usage(cli, "'%s' is not the id of a regression, such as r7f3k2qa",
				 id ? id : "");
	if (cli_db(cli, &c, &db, &e) < 0 || outbox_find(db, id, "report", &mail, &e) < 0)
		return cli_fail(cli, &e);
	(void)fwrite(mail.bytes, 1, mail.len, stdout);
	(void)fflush(stdout);
	if (send)
		r = release(cli, db, id, &mail, yes);
	free(mail.bytes);
	return r;
}
