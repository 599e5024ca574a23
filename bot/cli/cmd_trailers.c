/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/mail/trailers.h"

#include <getopt.h>

static void print_text(const struct trailers *t)
{
	if (t->subject)
		(void)printf("subject: %s\n", t->subject);
	vec_foreach (tr, &t->trailers) {
		(void)printf("trailer: %s: %s\n", tr->key, tr->value);
		if (tr->addr)
			(void)printf("         address %s\n", tr->addr);
		if (tr->comment)
			(void)printf("         comment %s\n", tr->comment);
	}
	vec_foreach (l, &t->links)
		(void)printf("link:    %s %s\n", trailer_link_kind_name(l->kind),
			     l->url ? l->url : l->message_id);
	vec_foreach (f, &t->fixes)
		(void)printf("fixes:   %s %s%s\n", f->id ? f->id : "(no id)",
			     f->title ? f->title : "(no title)",
			     f->ok ? "" : " (no link to a commit)");
	vec_foreach (r, &t->reverts)
		(void)printf("reverts: %s %s\n", r->id ? r->id : "(no id)",
			     r->title ? r->title : "");
}

int cmd_trailers(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "quiet", no_argument, NULL, 'q' },
						 { 0 } };
	_cleanup_(strbuf_done) struct strbuf msg = STRBUF_INIT;
	struct trailers t = { 0 };
	struct err e = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "jq", options, NULL)) != -1) { /* NOLINT */
		if (c == '?')
			return cli_bad_option(cli, argv);
		(void)cli_global_option(cli, c == 'j' ? "json" : "quiet", NULL);
	}
	if (argc - optind > 1)
		return cli_usage(cli, "one commit message at a time");
	if (file_read(optind < argc ? argv[optind] : "-", TRAILERS_MAX_BYTES, &msg, &e) < 0 ||
	    trailers_parse(strbuf_str(&msg), msg.len, &t, &e) < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	if (t.truncated)
		cli_note(cli, "more than %d trailers, the rest is left out", TRAILERS_MAX);
	if (cli->json) {
		_cleanup_(json_decrefp) json_t *j = trailers_to_json(&t);
		_cleanup_(freep) char *text = json_text(j);

		(void)printf("%s\n", text);
	} else {
		print_text(&t);
	}
	trailers_done(&t);
	return EXIT_DONE;
}
