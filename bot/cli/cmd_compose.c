/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/mail/compose.h"

#include <string.h>

#define INPUT_MAX (8U << 20)

static void print_mail(const struct cli *cli, const struct compose_mail *m)
{
	_cleanup_(json_decrefp) json_t *o = NULL;
	_cleanup_(freep) char *text = NULL;
	json_t *rcpts;

	if (!cli->json) {
		(void)fwrite(m->bytes, 1, m->len, stdout);
		return;
	}
	o = json_object();
	rcpts = json_array();
	json_set_str(o, "message_id", m->message_id);
	json_set_str(o, "subject", m->subject);
	json_set_str(o, "from", m->from);
	vec_foreach (r, &m->rcpts)
		(void)json_array_append_new(rcpts, json_string(*r));
	(void)json_object_set_new(o, "recipients", rcpts);
	json_set_str(o, "mail", m->bytes);
	text = json_text(o);
	(void)printf("%s\n", text);
}

static int compose_file(struct cli *cli, const char *path, const char *kind)
{
	_cleanup_(strbuf_done) struct strbuf raw = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *root = NULL;
	_cleanup_(compose_input_done) struct compose_input in = { 0 };
	_cleanup_(compose_mail_done) struct compose_mail mail = { 0 };
	struct err e = { 0 };

	compose_setup();
	if (file_read(path, INPUT_MAX, &raw, &e) < 0 ||
	    json_read(strbuf_str(&raw), raw.len, path, &root, &e) < 0 ||
	    compose_input_from_json(root, &in, &e) < 0 || compose_kind(kind, &in, &mail, &e) < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	vec_foreach (note, &in.notes)
		cli_note(cli, "kperfbot compose: %s", *note);
	if (!mail.rcpts.len)
		cli_note(cli, "kperfbot compose: no recipients given, nobody would get this");
	else if (compose_gate(&in, &e) < 0)
		cli_note(cli, "kperfbot compose: would not be sent by itself: %s", e.msg);
	print_mail(cli, &mail);
	return EXIT_DONE;
}

int cmd_compose(struct cli *cli, int argc, char **argv)
{
	const char *kind = "report";
	const struct cli_option options[] = { CLI_TEXT("kind", &kind) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));
	struct err e = { 0 };

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1)
		return cli_usage(cli, "name one file, or - for standard input");
	/* an unknown kind is wrong usage, and is told before any input is read */
	if (strcmp(kind, "report") != 0) {
		(void)compose_kind(kind, NULL, NULL, &e);
		return cli_usage(cli, "%s", e.msg);
	}
	return compose_file(cli, argv[at], kind);
}
