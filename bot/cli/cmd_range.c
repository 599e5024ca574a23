/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot range: what lies between a good and a bad commit, before anything is built. */
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/vec.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/watch/range.h"

#include <git2.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);

struct request {
	const char *repo;
	VEC(const char *) paths;
	bool first_parent;
	const char *good;
	const char *bad;
};

static int take_path(void *to, const char *value, struct err *e)
{
	struct request *q = to;

	(void)e;
	vec_push(&q->paths, value);
	return 0;
}

static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	const struct cli_option options[] = { CLI_TEXT("repo", &q->repo),
					      CLI_TAKE("path", take_path, q),
					      CLI_FLAG("first-parent", &q->first_parent) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 2)
		return cli_usage(cli, "want a good and a bad commit, got %d names", argc - at);
	q->good = argv[at];
	q->bad = argv[at + 1];
	return EXIT_DONE;
}

static void print_json(const struct range *r)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *bases = json_array();
	json_t *warnings = json_array();

	for (size_t i = 0; i < r->n_merge_bases; i++)
		(void)json_array_append_new(bases, json_string(r->merge_bases[i]));
	for (size_t i = 0; i < r->n_warnings; i++)
		(void)json_array_append_new(warnings, json_string(r->warnings[i]));
	json_set_str(o, "good", r->good);
	json_set_str(o, "bad", r->bad);
	json_set_bool(o, "good_is_ancestor", r->good_is_ancestor);
	(void)json_object_set_new(o, "merge_bases", bases);
	json_set_i64(o, "commits", (int64_t)r->commits);
	json_set_i64(o, "merges", (int64_t)r->merges);
	json_set_i64(o, "roots", (int64_t)r->roots);
	json_set_i64(o, "expected_steps", r->expected_steps);
	json_set_str(o, "midpoint", r->midpoint[0] ? r->midpoint : NULL);
	(void)json_object_set_new(o, "warnings", warnings);
	text = json_text(o);
	(void)printf("%s\n", text);
}

static void print_text(const struct cli *cli, const struct range *r)
{
	for (size_t i = 0; i < r->n_warnings; i++)
		cli_note(cli, "note: %s", r->warnings[i]);
	(void)printf("good           %s%s\n", r->good,
		     r->good_is_ancestor ? "" : " (not an ancestor of bad)");
	(void)printf("bad            %s\n", r->bad);
	for (size_t i = 0; i < r->n_merge_bases && !r->good_is_ancestor; i++)
		(void)printf("merge base     %s\n", r->merge_bases[i]);
	if (r->n_merge_bases == 0)
		(void)printf("merge base     none, the histories are apart: cannot be bisected\n");
	(void)printf("commits        %zu, %zu of them merges, %zu roots\n", r->commits, r->merges,
		     r->roots);
	(void)printf("expected steps %d\n", r->expected_steps);
	if (r->midpoint[0])
		(void)printf("midpoint       %s\n", r->midpoint);
}

static int exit_of(const struct cli *cli, const struct err *e)
{
	(void)cli_fail(cli, e);
	switch (e->code) {
	case ERR_RANGE:
		return EXIT_WORSE;
	case ERR_NOENT:
	case ERR_AMBIGUOUS:
	case ERR_INVAL:
		return EXIT_USAGE;
	default:
		return EXIT_FATAL;
	}
}

static int show(const struct cli *cli, const struct request *q)
{
	const struct range_options opt = { .paths = q->paths.items,
					   .n_paths = q->paths.len,
					   .first_parent = q->first_parent };
	_cleanup_(git_repository_freep) git_repository *repo = NULL;
	_cleanup_(range_done) struct range range = { 0 };
	struct err e = { 0 };

	if (range_open(q->repo, &repo, &e) < 0) {
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	if (range_read(repo, q->good, q->bad, &opt, &range, &e) < 0)
		return exit_of(cli, &e);
	if (cli->json)
		print_json(&range);
	else
		print_text(cli, &range);
	return EXIT_DONE;
}

int cmd_range(struct cli *cli, int argc, char **argv)
{
	struct request q = { .repo = "." };
	int r = parse_options(cli, argc, argv, &q);

	if (r == EXIT_DONE) {
		(void)git_libgit2_init();
		r = show(cli, &q);
		(void)git_libgit2_shutdown();
	}
	vec_done(&q.paths);
	return r;
}
