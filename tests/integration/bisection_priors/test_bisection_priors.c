/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What commits of a range weigh, from a repository, the database and lists of builds. */
#include "tests/test.h"

#include "bisect/prior.h"
#include "bot/base/config.h"
#include "bot/build/build.h"
#include "bot/db/db.h"
#include "bot/jobs/bisection_priors.h"
#include "bot/jobs/bisection_result.h"
#include "bot/jobs/bisection_run.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/artefact.h"
#include "bot/store/build.h"
#include "tests/integration/repo.h"
#include "tests/pg.h"

#include <git2.h>
#include <string.h>

static struct config *config;
static struct job_ctx ctx;
static struct bisection_run bisection;
static char kconfig_hash[65];
static char *compiler;
/* Hashes of the commits below, the good end first. */
static char *hashes[20];
static size_t n_hashes;

/* What each commit does; its number in the range is its place here less one. */
static const char *const commits[] = {
	"mkdir -p mm net Documentation arch/arm drivers/foo; echo 'int a;' >mm/a.c; "
	"echo 'int b;' >mm/b.c; echo 'int u;' >net/u.c",
	"echo x >Documentation/x.rst",			/* 0 */
	"echo 'int a2;' >>mm/a.c",			/* 1 */
	"echo '/* b */' >>mm/b.c",			/* 2 */
	"echo 'int u2;' >>net/u.c",			/* 3: not built */
	"echo 1 >arch/arm/x.c",				/* 4 */
	"echo 'int b2;' >>mm/b.c",			/* 5: taken back by the next */
	"sed -i /b2/d mm/b.c",				/* 6 */
	"echo >drivers/foo/Makefile",			/* 7 */
	"true",						/* 8: changes nothing */
	"echo 'int a3;' >>mm/a.c; echo y >MAINTAINERS", /* 9 */
};

static void make_config(void)
{
	_cleanup_(freep) char *path = xasprintf("%s/kperfbot.conf", repo_scratch);
	static const char text[] =
		"[machine \"m\"]\ndriver = qemu\ngroup = g\n[kconfig \"k\"]\nbase = tinyconfig\n"
		"[tree \"t\"]\nurl = u\n[job \"j\"]\nsuite = will-it-scale\ntest = page_fault1\n"
		"mode = process\nnr-task = 50%\ngroup = g\nkconfig = k\n";
	struct err e = { 0 };

	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
	assert_ok(config_load(path, &config, &e), &e);
}

static int set_up(void **state)
{
	struct err e = { 0 };

	if (repo_setup(state) < 0)
		return -1;
	pg_reset();
	(void)git_libgit2_init();
	make_config();
	run("git init -q -b master mirror.git");
	for (n_hashes = 0; n_hashes < ARRAY_SIZE(commits); n_hashes++) {
		hashes[n_hashes] = sh("cd mirror.git; %s; git add -A; git commit -q --allow-empty "
				      "-m x; git rev-parse HEAD",
				      commits[n_hashes]);
	}
	ctx = (struct job_ctx){ .config = config, .state_dir = repo_scratch, .db = pg_db() };
	bisection = (struct bisection_run){ .c = &ctx };
	bisection.row.id[0] = 'b';
	bisection.job.kconfig = xstrdup("k");
	bisection.job.suite = xstrdup("nobody's");
	bisection.job.test = xstrdup("none");
	assert_ok(job_kconfig_hash(&ctx, "k", kconfig_hash, &e), &e);
	assert_ok(build_compiler(&compiler, &e), &e);
	return 0;
}

static int tear_down(void **state)
{
	for (size_t i = 0; i < n_hashes; i++)
		free(hashes[i]);
	free(compiler);
	bisection_run_done(&bisection);
	config_free(config);
	(void)git_libgit2_shutdown();
	return repo_teardown(state);
}

/* A good build of commit @i, whose lists have this text; NULL: none. */
static void built(size_t i, const char *objects, const char *deps)
{
	struct build_outcome o = { .gnu_build_id = NULL, .took_s = 1 };
	enum build_state state;
	char a[65];
	char b[65];
	struct err e = { 0 };
	int64_t id;
	_cleanup_(freep) char *sql = xasprintf(
		"INSERT INTO commit (hash, parents, subject, author_name, author_mail, committer_name, "
		"committer_mail, author_time, commit_time, message) VALUES ('%s', '{}', '', '', '', '', "
		"'', now(), now(), '') ON CONFLICT DO NOTHING",
		hashes[i]);

	pg_exec(sql);
	if (objects) {
		assert_ok(artefact_put(pg_db(), repo_scratch, "objects", objects, strlen(objects),
				       a, &e),
			  &e);
		o.objects = a;
	}
	if (deps) {
		assert_ok(artefact_put(pg_db(), repo_scratch, "deps", deps, strlen(deps), b, &e),
			  &e);
		o.deps = b;
	}
	assert_ok(
		build_want(pg_db(), hashes[i], "k", kconfig_hash, compiler, "", 0, &id, &state, &e),
		&e);
	assert_ok(build_finish(pg_db(), id, &o, &e), &e);
}

/* The weights of the range as they are now. */
static void weigh(double *ret)
{
	struct bisect_params p = bisect_params_default();
	_cleanup_(freep) char *dir = job_mirror_dir(&ctx);
	git_repository *repo = NULL;
	struct err e = { 0 };

	range_done(&bisection.range);
	bisect_done(&bisection.state);
	(void)snprintf(bisection.good, sizeof(bisection.good), "%s", hashes[0]);
	assert_ok(range_open(dir, &repo, &e), &e);
	assert_ok(range_read(repo, hashes[0], hashes[n_hashes - 1], NULL, &bisection.range, &e),
		  &e);
	git_repository_free(repo);
	assert_int_equal(bisection.range.graph.n, n_hashes - 1);
	assert_ok(bisect_init(&bisection.state, &bisection.range.graph, &p, &e), &e);
	assert_ok(bisection_run_priors(&bisection, &e), &e);
	memcpy(ret, bisection.state.prior, (n_hashes - 1) * sizeof(*ret));
}

static void expect(const double *got, const enum prior_kind *want)
{
	for (size_t i = 0; i + 1 < n_hashes; i++)
		if (got[i] != prior_kind_weight(want[i]))
			fail_msg("commit %zu weighs %g, not %g (%s)", i, got[i],
				 prior_kind_weight(want[i]), prior_kind_name(want[i]));
}

static void weighs_by_names_and_content_where_nothing_was_built(void **state)
{
	static const enum prior_kind want[] = { PRIOR_DOCS,  PRIOR_PLAIN,      PRIOR_COMMENTS,
						PRIOR_PLAIN, PRIOR_OTHER_ARCH, PRIOR_PLAIN,
						PRIOR_PLAIN, PRIOR_OFF_PATH,   PRIOR_SAME_BINARY,
						PRIOR_PLAIN };
	double w[20];

	(void)state;
	weigh(w);
	expect(w, want);
	/* Without any kernel of ours. */
	free(bisection.job.kconfig);
	bisection.job.kconfig = xstrdup("");
	weigh(w);
	expect(w, want);
}

#define DEPS "mm/a.c\nmm/b.c\n"

static void weighs_by_what_builds_were_made_of(void **state)
{
	static const enum prior_kind want[] = { PRIOR_DOCS,	   PRIOR_PLAIN,
						PRIOR_COMMENTS,	   PRIOR_NOT_BUILT,
						PRIOR_OTHER_ARCH,  PRIOR_SAME_OBJECT,
						PRIOR_SAME_OBJECT, PRIOR_QUIET_FOLDER,
						PRIOR_SAME_BINARY, PRIOR_PLAIN };
	double w[20];

	(void)state;
	built(0, "mm/a.o 1\nmm/b.o 1\n", DEPS);
	built(10, "mm/a.o 3\nmm/b.o 1\n", DEPS);
	weigh(w);
	expect(w, want);
}

static void hardly_counts_what_lies_between_equal_builds(void **state)
{
	static const enum prior_kind want[] = { PRIOR_DOCS,	   PRIOR_PLAIN,
						PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						PRIOR_SAME_BINARY, PRIOR_OFF_PATH,
						PRIOR_SAME_BINARY, PRIOR_PLAIN };
	static const enum prior_kind all_equal[] = { PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						     PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						     PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						     PRIOR_SAME_BINARY, PRIOR_SAME_BINARY,
						     PRIOR_SAME_BINARY, PRIOR_SAME_BINARY };
	double w[20];

	(void)state;
	built(2, "mm/a.o 2\nmm/b.o 1\n", NULL);
	built(7, "mm/a.o 2\nmm/b.o 1\n", NULL);
	weigh(w);
	expect(w, want);
	built(0, "mm/a.o 9\n", NULL);
	built(10, "mm/a.o 9\n", NULL);
	weigh(w);
	expect(w, all_equal);
}

static void takes_the_lists_of_others_where_no_end_was_built(void **state)
{
	double w[20];

	(void)state;
	built(4, NULL, DEPS);
	weigh(w);
	assert_float_equal(w[3], prior_kind_weight(PRIOR_NOT_BUILT), 0);
	assert_float_equal(w[5], 1, 0);
}

static void goes_on_without_lists_that_are_lost_or_strange(void **state)
{
	static const enum prior_kind want[] = { PRIOR_DOCS,  PRIOR_PLAIN,      PRIOR_COMMENTS,
						PRIOR_PLAIN, PRIOR_OTHER_ARCH, PRIOR_PLAIN,
						PRIOR_PLAIN, PRIOR_OFF_PATH,   PRIOR_SAME_BINARY,
						PRIOR_PLAIN };
	double w[20];

	(void)state;
	built(0, "\n\n \n", "\n \n");
	built(10, "mm/a.o 3\nmm/b.o 1\n", DEPS);
	run("rm -r artefacts");
	weigh(w);
	expect(w, want);
}

static void is_the_same_each_time(void **state)
{
	double a[20];
	double b[20];

	(void)state;
	built(0, "mm/a.o 1\nmm/b.o 1\n", DEPS);
	built(10, "mm/a.o 3\nmm/b.o 1\n", DEPS);
	weigh(a);
	weigh(b);
	assert_memory_equal(a, b, (n_hashes - 1) * sizeof(*a));
}

static void doubts_files_that_the_benchmark_does_not_run(void **state)
{
	double w[20];

	(void)state;
	free(bisection.job.suite);
	free(bisection.job.test);
	bisection.job.suite = xstrdup("will-it-scale");
	bisection.job.test = xstrdup("page_fault1");
	weigh(w);
	assert_float_equal(w[1], 1, 0);
	assert_float_equal(w[3], prior_kind_weight(PRIOR_OFF_PATH), 0);
}

static char *odd(size_t i)
{
	json_t *list = NULL;
	struct err e = { 0 };
	char *text;

	assert_ok(bisection_suspicions(&bisection, hashes[i], hashes[i - 1], &list, &e), &e);
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static void says_what_is_odd_about_a_culprit(void **state)
{
	_cleanup_(freep) char *docs = odd(1);
	_cleanup_(freep) char *code = odd(2);
	_cleanup_(freep) char *comment = odd(3);
	_cleanup_(freep) char *arch = odd(5);
	_cleanup_(freep) char *nothing = odd(9);
	_cleanup_(freep) char *after = NULL;
	struct err e = { 0 };
	json_t *list = NULL;

	(void)state;
	assert_string_equal(docs, "[\"docs-only\"]");
	assert_string_equal(code, "[]");
	assert_string_equal(comment, "[\"comment-only\"]");
	assert_string_equal(arch, "[\"other-arch\"]");
	assert_string_equal(nothing, "[\"same-binary\"]");
	built(1, "mm/a.o 1\n", DEPS);
	built(2, "mm/a.o 1\n", DEPS);
	after = odd(2);
	assert_string_equal(after, "[\"same-binary\"]");
	assert_err(bisection_suspicions(&bisection, "0123456789012345678901234567890123456789",
					hashes[0], &list, &e),
		   ERR_NOENT, &e);
	assert_null(list);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Along first parents the answer is a merge, which says where to look further. */
static void a_merge_along_first_parents_is_not_the_last_word(void **state)
{
	_cleanup_(freep) char *side =
		sh("cd mirror.git; git checkout -q -b side HEAD~1; echo 'int s;' "
		   ">>mm/s.c; git add -A; git commit -q -m side; git checkout -q "
		   "master; git merge -q --no-ff -m 'join' side; git rev-parse HEAD");
	_cleanup_(freep) char *dir = job_mirror_dir(&ctx);
	const struct range_options opt = { .first_parent = true };
	struct bisection_against a = {
		.parent = hashes[n_hashes - 1],
		.effect = { .rel = -.04, .lo = -.05, .hi = -.03, .level = .95 }
	};
	struct bisect_step step = { .probability = .99, .second = BISECT_NO_COMMIT };
	git_repository *repo = NULL;
	struct err e = { 0 };

	(void)state;
	(void)snprintf(bisection.good, sizeof(bisection.good), "%s", hashes[n_hashes - 1]);
	assert_ok(range_open(dir, &repo, &e), &e);
	assert_ok(range_read(repo, bisection.good, side, &opt, &bisection.range, &e), &e);
	git_repository_free(repo);
	assert_int_equal(bisection.range.graph.n, 1);
	for (int first_parent = 1; first_parent >= 0; first_parent--) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
		_cleanup_(json_decrefp) json_t *o = NULL;
		const json_t *inside;

		bisection.row.request = json_pack("{s:b}", "first_parent", first_parent);
		o = bisection_result_culprit(&bisection, &step, &a, 1, &text);
		json_decref(bisection.row.request);
		bisection.row.request = NULL;
		inside = json_object_get(o, "inside");
		assert_int_equal(inside != NULL, first_parent);
		assert_int_equal(strstr(strbuf_str(&text), "what it merged was not looked at") !=
					 NULL,
				 first_parent);
		if (first_parent)
			assert_string_equal(json_str(inside, "good", ""), a.parent);
		if (first_parent)
			assert_string_equal(json_str(inside, "bad", ""), side);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(weighs_by_names_and_content_where_nothing_was_built),
		T(weighs_by_what_builds_were_made_of),
		T(hardly_counts_what_lies_between_equal_builds),
		T(takes_the_lists_of_others_where_no_end_was_built),
		T(goes_on_without_lists_that_are_lost_or_strange),
		T(is_the_same_each_time),
		T(doubts_files_that_the_benchmark_does_not_run),
		T(says_what_is_odd_about_a_culprit),
		T(a_merge_along_first_parents_is_not_the_last_word),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
