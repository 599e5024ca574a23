/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/bisection_priors.h"

#include "bisect/prior.h"
#include "bot/base/err.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/artefact.h"
#include "bot/store/build.h"
#include "bot/watch/touched.h"

#include <git2.h>
#include <string.h>

#define LIST_MAX      ((size_t)64 << 20)
#define PATHS_MAX     4096
#define CONTENT_RANGE RANGE_LONG

DEFINE_CLEANUP(git_repository *, git_repository_free);

/* What is known beside the commits themselves. @good, @bad: the ends that the lists are of. */
struct known {
	const struct bisection_run *b;
	const char *good, *bad;
	git_repository *repo;
	char *arch;
	struct build_list *builds;
	size_t n_builds;
	struct prior_set built;
	struct prior_set same;
	struct prior_context context;
};

static void known_done(struct known *k)
{
	git_repository_free(k->repo);
	free(k->arch);
	free(k->builds);
	prior_set_done(&k->built);
	prior_set_done(&k->same);
}

/* A list that is gone leaves us with less to go by, no more. */
static bool read_list(const struct known *k, const char *hash, struct strbuf *ret)
{
	struct err e = { 0 };

	if (!hash[0])
		return false;
	if (artefact_get(k->b->c->state_dir, hash, LIST_MAX, ret, &e) == 0)
		return true;
	log_warn("list of a build cannot be read, going on without",
		 lf_str("BISECT_ID", k->b->row.id), lf_str("ERROR", e.msg));
	strbuf_reset(ret);
	return false;
}

static const struct build_list *build_of(const struct known *k, const char *hash)
{
	for (size_t i = 0; i < k->n_builds; i++)
		if (!strcmp(k->builds[i].commit, hash))
			return &k->builds[i];
	return NULL;
}

static void add_deps(struct known *k, const struct build_list *build)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	if (build && read_list(k, build->deps, &text))
		prior_set_add(&k->built, strbuf_str(&text), text.len);
}

/*
 * Both ends, since files come and go between them. Where neither was built yet, any other is better
 * than none; the first and the last.
 */
static void read_deps(struct known *k, const struct build_list *good, const struct build_list *bad)
{
	add_deps(k, good);
	if (!good || !bad || strcmp(good->deps, bad->deps) != 0)
		add_deps(k, bad);
	if (!k->built.n && k->n_builds) {
		add_deps(k, &k->builds[0]);
		add_deps(k, &k->builds[k->n_builds - 1]);
	}
	prior_set_sort(&k->built);
}

static void read_same(struct known *k, const struct build_list *good, const struct build_list *bad)
{
	_cleanup_(strbuf_done) struct strbuf a = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	if (good && bad && read_list(k, good->objects, &a) && read_list(k, bad->objects, &b))
		(void)prior_same_objects(strbuf_str(&a), a.len, strbuf_str(&b), b.len, &k->same);
}

static int read_builds(struct known *k, const char *const *commits, size_t n, struct err *e)
{
	_cleanup_(freep) char *compiler = NULL;
	const char *kconfig = k->b->job.kconfig;
	char hash[65];
	int r;

	if (!kconfig[0])
		return 0;
	r = job_kconfig_hash(k->b->c, kconfig, hash, e);
	if (r == 0)
		r = build_compiler(&compiler, e);
	if (r == 0)
		r = build_lists(k->b->c->db, commits, n, hash, compiler, &k->builds, &k->n_builds,
				e);
	if (r < 0)
		return r;
	read_deps(k, build_of(k, k->good), build_of(k, k->bad));
	read_same(k, build_of(k, k->good), build_of(k, k->bad));
	return 0;
}

static int known_read(struct known *k, const char *const *commits, size_t n, struct err *e)
{
	_cleanup_(freep) char *dir = job_mirror_dir(k->b->c);
	int r;

	k->arch = job_arch(k->b->c, k->b->job.kconfig);
	r = range_open(dir, &k->repo, e);
	if (r == 0)
		r = read_builds(k, commits, n, e);
	k->context = (struct prior_context){ .arch = k->arch,
					     .suite = k->b->job.suite,
					     .test = k->b->job.test,
					     .built = &k->built,
					     .same = &k->same };
	return r;
}

static bool same_build(const struct build_list *a, const struct build_list *b)
{
	return (a->objects[0] && !strcmp(a->objects, b->objects)) ||
	       (a->gnu_build_id[0] && !strcmp(a->gnu_build_id, b->gnu_build_id));
}

/* Is @c on the side of the build at @x? One that is not in the range is the good end: none is. */
static bool reaches(const struct bisect_graph *g, int x, size_t c)
{
	return x >= 0 && bisect_graph_contains(g, (size_t)x, c);
}

/* Of two equal builds both are good or both bad: no commit that only one of them has is the first. */
static bool *between_equals(const struct known *k)
{
	const struct bisect_graph *g = &k->b->range.graph;
	_cleanup_(freep) int *at = xcalloc(k->n_builds + 1, sizeof(*at));
	bool *ret = xcalloc(g->n, sizeof(*ret));

	for (size_t i = 0; i < k->n_builds; i++)
		at[i] = bisect_graph_find(g, k->builds[i].commit, NULL);
	for (size_t i = 0; i < k->n_builds; i++)
		for (size_t j = i + 1; j < k->n_builds; j++)
			for (size_t c = 0; c < g->n && same_build(&k->builds[i], &k->builds[j]);
			     c++)
				ret[c] |= reaches(g, at[i], c) != reaches(g, at[j], c);
	return ret;
}

static struct prior_commit commit_of(const struct touched *t)
{
	return (struct prior_commit){ .paths = (const char *const *)t->paths,
				      .same_code = t->same_code,
				      .n_paths = t->n,
				      .more = t->more,
				      .merge = t->n_parents > 1 };
}

/* What cannot be read is not known; that it cannot be built either shows soon enough. */
static double weigh(const struct known *k, size_t i, bool same_binary)
{
	const struct bisect_graph *g = &k->b->range.graph;
	struct touched t = { 0 };
	struct prior_commit c;
	double w;

	if (touched_read(k->repo, g->commits[i].hash, PATHS_MAX, g->n <= CONTENT_RANGE, &t, NULL) <
	    0)
		t.more = true;
	c = commit_of(&t);
	c.same_binary = same_binary;
	w = prior_weight(&k->context, &c, NULL);
	touched_done(&t);
	return w;
}

int bisection_run_priors(struct bisection_run *b, struct err *e)
{
	const struct bisect_graph *g = &b->range.graph;
	_cleanup_(freep) const char **commits = xcalloc(g->n + 1, sizeof(*commits));
	_cleanup_(known_done) struct known k = { .b = b, .good = b->good };
	_cleanup_(freep) bool *equal = NULL;
	int r;

	if (!g->n)
		return 0;
	for (size_t i = 0; i < g->n; i++)
		commits[i] = g->commits[i].hash;
	commits[g->n] = b->good;
	k.bad = g->commits[g->n - 1].hash;
	r = known_read(&k, commits, g->n + 1, e);
	if (r < 0)
		return r;
	equal = between_equals(&k);
	for (size_t i = 0; r == 0 && i < g->n; i++) {
		double w = weigh(&k, i, equal[i]);

		if (w < 1)
			r = bisect_set_prior(&b->state, (int)i, w, e);
	}
	return r;
}

int bisection_suspicions(const struct bisection_run *b, const char *hash, const char *parent,
			 json_t **ret, struct err *e)
{
	const char *commits[] = { parent, hash };
	_cleanup_(known_done) struct known k = { .b = b, .good = parent, .bad = hash };
	const struct build_list *before;
	const struct build_list *after;
	struct touched t = { 0 };
	struct prior_commit c;
	unsigned bits;
	int r;

	r = known_read(&k, commits, ARRAY_SIZE(commits), e);
	if (r == 0)
		r = touched_read(k.repo, hash, PATHS_MAX, true, &t, e);
	if (r < 0)
		return r;
	c = commit_of(&t);
	before = build_of(&k, parent);
	after = build_of(&k, hash);
	c.same_binary = before && after && same_build(before, after);
	bits = prior_suspicions(&k.context, &c);
	touched_done(&t);
	*ret = json_array();
	for (unsigned bit = 1; bit <= bits; bit <<= 1)
		if (bits & bit)
			(void)json_array_append_new(*ret, json_string(prior_suspicion_name(bit)));
	return 0;
}
