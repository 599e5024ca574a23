/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot bisect replay of a `git bisect log`: words instead of runs, each wrong now and then. */
#include "bot/cli/cmd_bisect_replay.h"

#include "bisect/log.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/cli/cli.h"
#include "bot/watch/range.h"

#include <git2.h>
#include <string.h>

DEFINE_CLEANUP(git_repository *, git_repository_free);
DEFINE_CLEANUP(git_object *, git_object_free);

#define TOP_MOST 100

struct replay {
	const struct cli *cli;
	const struct replay_options *q;
	const struct bisect_git_log *log;
	git_repository *repo;
	struct range range;
	VEC(struct bisect_word_said) said;
	double *p;
	size_t left;
	json_t *steps;
};

/* Index in the range, or BISECT_NO_COMMIT for a commit beside it. */
static int find_commit(const struct replay *r, const char *name, int *ret, struct err *e)
{
	_cleanup_(git_object_freep) git_object *object = NULL;
	_cleanup_(freep) char *spec = xasprintf("%s^{commit}", name);
	char hash[41];
	int at;

	if (git_revparse_single(&object, r->repo, spec) < 0)
		return err_set(e, ERR_NOENT, "no commit '%.64s' in the repository", name);
	(void)git_oid_tostr(hash, sizeof(hash), git_object_id(object));
	at = bisect_graph_find(&r->range.graph, hash, NULL);
	*ret = at >= 0 ? at : BISECT_NO_COMMIT;
	return 0;
}

static const char *first_of(const struct bisect_git_log *log, enum bisect_word word)
{
	for (size_t i = 0; i < log->n; i++)
		if (log->words[i] == word)
			return log->names[i];
	return NULL;
}

static int read_range(struct replay *r, struct err *e)
{
	const char *good = first_of(r->log, BISECT_WORD_GOOD);
	const char *bad = first_of(r->log, BISECT_WORD_BAD);
	const struct range_options opt = { .paths = (const char *const *)r->log->paths,
					   .n_paths = r->log->n_paths,
					   .first_parent = r->log->first_parent };
	int rc;

	if (!good || !bad)
		return err_set(e, ERR_INVAL, "the log has no %s commit", good ? "bad" : "good");
	rc = range_read(r->repo, good, bad, &opt, &r->range, e);
	if (rc == 0 && r->range.graph.n == 0)
		rc = err_set(e, ERR_TOO_BIG, "%zu commits, at most %d can be followed",
			     r->range.commits, BISECT_MAX_COMMITS);
	return rc;
}

static const char *const words[] = { "good", "bad", "skip" };

static json_t *likely_json(const struct replay *r, const struct replay_likely *top, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_set_str(o, "commit", r->range.graph.commits[top[i].commit].hash);
		json_set_f64(o, "p", top[i].p);
		(void)json_array_append_new(list, o);
	}
	return list;
}

static void show_step(struct replay *r, size_t at, const char *hash)
{
	_cleanup_(freep) struct replay_likely *top = xcalloc(TOP_MOST + 1, sizeof(*top));
	const struct bisect_commit *commits = r->range.graph.commits;
	const char *word = words[r->log->words[at]];
	char p[PROBABILITY_TEXT];
	size_t n;

	bisect_words_posterior(&r->range.graph, r->said.items, r->said.len, r->q->wrong, r->p,
			       &r->left);
	n = replay_top(r->p, r->range.graph.n, (size_t)r->q->top, top);
	if (r->cli->json) {
		json_t *o = json_object();

		json_set_i64(o, "step", (int64_t)at + 1);
		json_set_str(o, "commit", hash);
		json_set_str(o, "verdict", word);
		json_set_i64(o, "agree", (int64_t)r->left);
		json_set_f64(o, "left", replay_left(r->p, r->range.graph.n));
		(void)json_object_set_new(o, "likeliest", likely_json(r, top, n));
		(void)json_array_append_new(r->steps, o);
		return;
	}
	(void)printf("%3zu  %.12s  %-4s  %zu %s, %.1f left\n", at + 1, hash, word, r->left,
		     r->left == 1 ? "commit agrees" : "commits agree",
		     replay_left(r->p, r->range.graph.n));
	for (size_t i = 0; i < n; i++)
		(void)printf("     %.12s  %s\n", commits[top[i].commit].hash,
			     probability_text(p, top[i].p));
}

static int replay_words(struct replay *r, struct err *e)
{
	for (size_t i = 0; i < r->log->n; i++) {
		struct bisect_word_said said = { .word = r->log->words[i] };
		int rc = find_commit(r, r->log->names[i], &said.commit, e);

		if (rc < 0)
			return rc;
		if (said.commit == BISECT_NO_COMMIT && said.word == BISECT_WORD_GOOD) {
			said.commit = BISECT_GOOD_END;
		} else if (said.commit == BISECT_NO_COMMIT) {
			cli_note(r->cli, "note: %.40s is not in the range, left out",
				 r->log->names[i]);
			continue;
		}
		vec_push(&r->said, said);
		show_step(r, i,
			  said.commit >= 0 ? r->range.graph.commits[said.commit].hash
					   : r->range.good);
	}
	return 0;
}

/* Return: an exit code. */
static int print_answer(struct replay *r)
{
	struct replay_likely top[2];
	size_t n = replay_top(r->p, r->range.graph.n, 1, top);
	const char *hash = n ? r->range.graph.commits[top[0].commit].hash : NULL;
	bool one = hash && r->left == 1;
	char p[PROBABILITY_TEXT];

	if (r->cli->json) {
		_cleanup_(json_decrefp) json_t *o = json_object();
		_cleanup_(freep) char *text = NULL;
		json_t *answer = json_object();

		json_set_str(answer, "action",
			     one       ? "done"
			     : r->left ? "measure"
				       : "contradiction");
		json_set_str(answer, "commit", hash);
		json_set_f64(answer, "probability", n ? top[0].p : 0);
		json_set_str(o, "format", "kperfbot-bisect-replay/1");
		json_set_i64(o, "commits", (int64_t)r->range.graph.n);
		(void)json_object_set(o, "steps", r->steps);
		(void)json_object_set_new(o, "answer", answer);
		text = json_text(o);
		(void)printf("%s\n", text);
	} else if (one) {
		(void)printf("first bad commit %.40s, probability %s\n", hash,
			     probability_text(p, top[0].p));
	} else if (r->left) {
		(void)printf("not finished, %zu commits are left\n", r->left);
	} else {
		(void)printf("the words contradict each other%s%.40s\n",
			     hash ? ", likeliest is " : "", hash ? hash : "");
	}
	if (one && r->log->culprit[0] && strcmp(hash, r->log->culprit) != 0)
		cli_note(r->cli, "note: the log names %.40s", r->log->culprit);
	return one ? EXIT_DONE : EXIT_CANNOT_TELL;
}

/* Without --repo the commits are here, or else in the mirror of the bot that made the log. */
static int find_range(struct replay *r, struct err *e)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(freep) char *mirror = NULL;
	struct err other = { 0 };
	int rc = range_open(r->q->repo ? r->q->repo : ".", &r->repo, e);

	if (rc == 0)
		rc = read_range(r, e);
	if (rc != ERR_NOENT || r->q->repo || cli_config(r->cli, &c, &other) < 0)
		return rc;
	mirror = xasprintf("%s/mirror.git", config_str(c, "kperfbot", NULL, "state"));
	git_repository_free(r->repo);
	r->repo = NULL;
	if (range_open(mirror, &r->repo, &other) < 0 || read_range(r, &other) < 0)
		return rc;
	return 0;
}

static int follow(struct replay *r, struct err *e)
{
	int rc = find_range(r, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->range.n_warnings; i++)
		cli_note(r->cli, "note: %s", r->range.warnings[i]);
	r->p = xcalloc(r->range.graph.n, sizeof(*r->p));
	r->steps = json_array();
	rc = replay_words(r, e);
	return rc < 0 ? rc : print_answer(r);
}

int cmd_bisect_replay_git(const struct cli *cli, const struct replay_options *q, const char *text,
			  size_t len)
{
	_cleanup_(bisect_git_log_done) struct bisect_git_log log = { 0 };
	struct replay r = { .cli = cli, .q = q, .log = &log };
	struct err e = { 0 };
	int rc = bisect_git_log_read(text, len, &log, &e);
	/* A repository that cannot be read is no wrong usage. */
	bool fatal = rc < 0;

	(void)git_libgit2_init();
	if (rc == 0 && q->git_log)
		(void)fwrite(text, 1, len, stdout);
	else if (rc == 0)
		rc = follow(&r, &e);
	else
		(void)err_wrap(&e, "%s", q->path);
	if (rc < 0)
		(void)cli_fail(cli, &e);
	fatal |= (q->repo && !r.repo) || e.code == ERR_GIT;
	json_decref(r.steps);
	free(r.p);
	vec_done(&r.said);
	range_done(&r.range);
	git_repository_free(r.repo);
	(void)git_libgit2_shutdown();
	if (rc >= 0)
		return rc;
	return fatal ? EXIT_FATAL : EXIT_USAGE;
}
