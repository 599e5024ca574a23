/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/mail/trailers.h"
#include "bot/watch/fixes.h"
#include "bot/watch/range.h"

#include <git2.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);

/* @repo, @at: NULL when nobody asked which commits the tags name. */
struct request {
	const char *repo;
	const char *at;
	const char *file;
};

static void print_fix(const struct trailer_fix *f, const struct fixes_named *named)
{
	(void)printf("fixes:   %s %s%s\n", f->id ? f->id : "(no id)",
		     f->title ? f->title : "(no title)", f->ok ? "" : " (no link to a commit)");
	if (named && named->end == FIXES_FOUND)
		(void)printf("         is %.12s%s\n", named->hash,
			     named->by_title ? ", by its title: the id is not in this history"
					     : "");
	else if (named)
		(void)printf("         %s\n", fixes_end_text(named->end));
}

static void print_text(const struct trailers *t, const struct fixes_named *named)
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
	for (size_t i = 0; i < t->fixes.len; i++)
		print_fix(&t->fixes.items[i], named ? &named[i] : NULL);
	vec_foreach (r, &t->reverts)
		(void)printf("reverts: %s %s\n", r->id ? r->id : "(no id)",
			     r->title ? r->title : "");
}

/* What the repository says of each tag, as further keys of its entry. */
static void add_named(json_t *root, const struct fixes_named *named)
{
	json_t *list = json_object_get(root, "fixes"), *o;
	size_t i;

	json_array_foreach (list, i, o) {
		if (named[i].end == FIXES_FOUND) {
			json_set_str(o, "commit", named[i].hash);
			json_set_str(o, "by", named[i].by_title ? "title" : "id");
		} else {
			json_set_str(o, "unresolved", fixes_end_name(named[i].end));
			json_set_str(o, "why", fixes_end_text(named[i].end));
		}
	}
}

static int resolve(struct cli *cli, const struct request *q, const struct trailers *t,
		   struct fixes_named *ret)
{
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	struct err e = { 0 };
	char tip[41];

	if (range_open(q->repo, &repo, &e) < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	if (fixes_tip(repo, q->at ? q->at : "HEAD", tip, &e) < 0) {
		(void)cli_fail(cli, &e);
		return e.code == ERR_GIT ? EXIT_FATAL : EXIT_USAGE;
	}
	if (fixes_resolve(repo, tip, t->fixes.items, t->fixes.len, ret, &e) < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	return EXIT_DONE;
}

static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	const struct cli_option options[] = { CLI_TEXT("repo", &q->repo), CLI_TEXT("at", &q->at) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at > 1)
		return cli_usage(cli, "one commit message at a time");
	if (q->at && !q->repo)
		return cli_usage(cli, "--at names a commit of the repository that --repo gives");
	q->file = at < argc ? argv[at] : "-";
	return EXIT_DONE;
}

static void print(const struct cli *cli, const struct trailers *t, const struct fixes_named *named)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	_cleanup_(freep) char *text = NULL;

	if (t->truncated)
		cli_note(cli, "more than %d trailers, the rest is left out", TRAILERS_MAX);
	if (!cli->json) {
		print_text(t, named);
		return;
	}
	j = trailers_to_json(t);
	if (named)
		add_named(j, named);
	text = json_text(j);
	(void)printf("%s\n", text);
}

int cmd_trailers(struct cli *cli, int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf msg = STRBUF_INIT;
	_cleanup_(trailers_done) struct trailers t = { 0 };
	_cleanup_(freep) struct fixes_named *named = NULL;
	struct request q = { 0 };
	struct err e = { 0 };
	int r = parse_options(cli, argc, argv, &q);

	if (r != EXIT_DONE)
		return r;
	r = file_read(q.file, TRAILERS_MAX_BYTES, &msg, &e);
	if (r == 0)
		r = trailers_parse(strbuf_str(&msg), msg.len, &t, &e);
	if (r < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	if (q.repo) {
		named = xcalloc(t.fixes.len + 1, sizeof(*named));
		(void)git_libgit2_init();
		r = resolve(cli, &q, &t, named);
		(void)git_libgit2_shutdown();
		if (r != EXIT_DONE)
			return r;
	}
	print(cli, &t, named);
	return EXIT_DONE;
}
