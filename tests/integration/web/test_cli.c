/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of kperfbot that read the database, as a person runs them. */
#include "bot/base/child.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/integration/web/fixture.h"
#include "tests/pg.h"
#include "tests/test.h"

/* After test.h, as it says. */
#include "tests/integration/repo.h"

static char hashes[2][41];

struct said {
	int status;
	char *out, *err;
};

static void said_done(struct said *s)
{
	free(s->out);
	free(s->err);
}

/* Runs kperfbot with the words of @line. */
static struct said cli(const char *line)
{
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT,
				       .total_s = 60,
				       .split_stderr = true };
	_cleanup_(freep) char *program = xasprintf("%s/kperfbot", TEST_BIN_DIR);
	_cleanup_(freep) char *config = xasprintf("%s/k.conf", pg_dir());
	_cleanup_(freep) char *words = xstrdup(line);
	const char *argv[24] = { program, "-C", config };
	size_t n = 3;
	struct child_result res;
	struct err e = { 0 };
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w && n < 23; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	opts.spawn.argv = argv;
	assert_ok(child_run(&opts, &res, &e), &e);
	assert_int_equal(res.end, CHILD_EXITED);
	struct said s = { res.status, xstrdup(res.out), xstrdup(res.err) };

	child_result_done(&res);
	return s;
}

#define CLI(s, ...) _cleanup_(said_done) struct said s = cli(__VA_ARGS__)

static json_t *json_of(const struct said *s)
{
	struct err e = { 0 };
	json_t *j = NULL;

	assert_ok(json_read(s->out, strlen(s->out), "output", &j, &e), &e);
	return j;
}

static void status_tells_people_and_programs(void **state)
{
	static const char *const keys[] = { "trees",	   "machines", "work",	      "builds",
					    "boots",	   "runs",     "comparisons", "bisections",
					    "regressions", "mails" };
	_cleanup_(json_decrefp) json_t *j = NULL;

	(void)state;
	CLI(text, "status");
	assert_int_equal(text.status, 0);
	assert_non_null(strstr(text.out, "could not resolve host"));
	assert_non_null(strstr(text.out, "4 ok, 1 failed"));
	assert_null(strchr(text.out, '\x1b'));
	CLI(json, "status --json");
	j = json_of(&json);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_non_null(json_object_get(j, keys[i]));
}

static void list_filters_and_can_set_the_exit_code(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL;

	(void)state;
	CLI(all, "list --exit-code");
	assert_int_equal(all.status, 1);
	assert_non_null(strstr(all.out, "r7f3k2qa"));
	assert_null(strstr(all.out, "r3333333"));
	CLI(none, "list --exit-code --state fixed");
	assert_int_equal(none.status, 0);
	CLI(json, "--json list --state invalid");
	j = json_of(&json);
	assert_int_equal(json_array_size(json_object_get(j, "items")), 1);
	CLI(wrong, "list --limit 0");
	assert_int_equal(wrong.status, 129);
}

static void show_finds_each_kind_of_thing(void **state)
{
	(void)state;
	CLI(r, "show r7f3k2qa");
	assert_non_null(strstr(r.out, "take the range lock"));
	assert_non_null(strstr(r.out, "undone?   444444444444 "));
	CLI(b, "show b5k2p9xm");
	assert_non_null(strstr(b.out, "first bad commit " H_CULP));
	CLI(c, "show 44444444");
	assert_non_null(strstr(c.out, "[U+001B][31m"));
	assert_null(strchr(c.out, '\x1b'));
	CLI(s, "show s41c9d0e");
	assert_int_equal(s.status, 0);
	assert_non_null(strstr(s.out, "change    222222222222 confirmed"));
	assert_non_null(strstr(s.out, " -2.7%  p 1e-09  comparison 1, measured again -3.8%"));
	assert_non_null(strstr(s.out, "r7f3k2qa"));
	CLI(nos, "show s7777777");
	assert_int_equal(nos.status, 3);
	CLI(absent, "show rzzzzzzz");
	assert_int_equal(absent.status, 3);
	assert_non_null(strstr(absent.err, "no regression 'rzzzzzzz'"));
	CLI(wrong, "show x");
	assert_int_equal(wrong.status, 129);
	CLI(json, "--json show rzzzzzzz");
	assert_int_equal(json.status, 3);
	assert_non_null(strstr(json.out, "\"code\":\"NOENT\""));
}

static void tokens_are_made_listed_and_revoked(void **state)
{
	_cleanup_(freep) char *line = NULL;

	(void)state;
	CLI(made, "token add ci --scope bisect --days 2");
	assert_int_equal(made.status, 0);
	assert_int_equal(strlen(made.out), 78);
	CLI(list, "token list");
	assert_non_null(strstr(list.out, " ci "));
	/* The secret is shown once. */
	made.out[strcspn(made.out, "\n")] = '\0';
	assert_null(strstr(list.out, made.out + 13));
	line = xasprintf("token revoke %.8s", made.out + 4);
	CLI(revoked, line);
	assert_int_equal(revoked.status, 0);
	CLI(again, line);
	assert_int_equal(again.status, 3);
	CLI(scope, "token add ci --scope root");
	assert_int_equal(scope.status, 128);
	assert_non_null(strstr(scope.err, "there are bisect"));
}

static void bisect_start_names_what_is_wrong_and_what_there_is(void **state)
{
	(void)state;
	CLI(wrong, "bisect start --tree mars --good v1 --bad master --job nope");
	assert_int_equal(wrong.status, 129);
	assert_non_null(strstr(wrong.err, "--tree: no tree 'mars'; there is linus"));
	assert_non_null(strstr(wrong.err, "--job: no job 'nope'; there is pf1"));
	CLI(commit, "bisect start --tree linus --good v7 --bad master --job pf1");
	assert_int_equal(commit.status, 129);
	assert_non_null(strstr(commit.err, "--good: 'v7' is no tag or branch of tree 'linus'"));
	CLI(missing, "bisect start --tree linus");
	assert_int_equal(missing.status, 129);
}

static void bisect_start_quotes_options_as_they_are_written(void **state)
{
	(void)state;
	CLI(path, "bisect plan --tree linus --good v1 --bad master --job pf1 --path ../x");
	assert_int_equal(path.status, 129);
	assert_non_null(strstr(path.err, "--path: path '../x'"));
	CLI(esc, "bisect plan --tree linus --good \x1b[31m --bad master --job pf1");
	assert_int_equal(esc.status, 129);
	assert_non_null(strstr(esc.err, "--good: '[U+001B][31m'"));
	CLI(bytes, "bisect start --tree linus --good v1 --bad master --job pf1 --note a\xff");
	assert_int_equal(bytes.status, 129);
	assert_non_null(strstr(bytes.err, "--note: not UTF-8"));
	CLI(why, "bisect cancel --why a\xff b2222222");
	assert_int_equal(why.status, 129);
	CLI(ratio, "bisect plan --tree linus --good v1 --bad master --job pf1 --min-effect 5%");
	assert_int_equal(ratio.status, 0);
	assert_non_null(strstr(ratio.out, "a change of 5.00 % "));
	CLI(large, "bisect plan --tree linus --good v1 --bad master --job pf1 --min-effect 101%");
	assert_int_equal(large.status, 129);
	assert_non_null(strstr(large.err, "--min-effect: '101%' is not between 0.01% and 100%"));
	CLI(runs, "bisect start --tree linus --good v1 --bad master --job pf1 --max-runs 2.5");
	assert_int_equal(runs.status, 129);
}

static void bisect_start_stores_and_status_shows(void **state)
{
	_cleanup_(freep) char *line = NULL;
	char id[9];

	(void)state;
	CLI(plan, "bisect start --tree linus --good v1 --bad master --job pf1 --dry-run");
	assert_int_equal(plan.status, 0);
	assert_non_null(strstr(plan.out, "3 commits"));
	CLI(made, "bisect start --tree linus --good v1 --bad master --job pf1");
	assert_int_equal(made.status, 0);
	(void)snprintf(id, sizeof(id), "%.8s", made.out);
	assert_true(id_valid('b', id));
	line = xasprintf("bisect start --tree linus --good %s --bad %.10s --job pf1", hashes[0],
			 hashes[1]);
	CLI(joined, line);
	assert_non_null(strstr(joined.out, "(joined)"));
	assert_true(!strncmp(joined.out, id, 8));
	free(line);
	line = xasprintf("bisect status %s", id);
	CLI(status, line);
	assert_int_equal(status.status, 0);
	assert_non_null(strstr(status.out, "queued"));
}

static void bisect_watch_ends_with_the_bisection(void **state)
{
	(void)state;
	CLI(done, "bisect watch b5k2p9xm");
	assert_int_equal(done.status, 0);
	assert_non_null(strstr(done.out, "first bad commit"));
	assert_non_null(strstr(done.err, "step 3"));
	pg_exec("UPDATE bisection SET state = 'inconclusive' WHERE id = 'b2222222'");
	CLI(unclear, "bisect watch b2222222");
	assert_int_equal(unclear.status, 125);
	CLI(none, "bisect watch bzzzzzzz");
	assert_int_equal(none.status, 3);
}

static void a_database_that_does_not_run_is_one_line(void **state)
{
	(void)state;
	pg_down();
	CLI(s, "status");
	assert_int_equal(s.status, 128);
	assert_non_null(strstr(s.err, "does kperfbotd run?"));
	pg_up();
}

static int start(void **state)
{
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct err e = { 0 };

	if (pg_start(state) != 0)
		return -1;
	repo_scratch = xstrdup(pg_dir());
	fixture_fill();
	run("git init -q --bare mirror.git && git init -q -b master work && cd work && "
	    "for i in 1 2 3 4; do echo $i > f; git add f; git commit -qm c$i; done && "
	    "git tag v1 HEAD~3 && git push -q ../mirror.git "
	    "master:refs/kperfbot/tree/linus/heads/master v1:refs/kperfbot/tree/linus/tags/v1");
	for (int i = 0; i < 2; i++) {
		char *hash = sh("cd work && git rev-parse %s", i ? "master" : "v1");

		(void)snprintf(hashes[i], sizeof(hashes[i]), "%s", hash);
		free(hash);
	}
	path = xasprintf("%s/k.conf", pg_dir());
	text = xasprintf(
		"[kperfbot]\nstate = %s\n[tree \"linus\"]\n"
		"url = https://git.example.org/linux.git\n[kconfig \"tiny\"]\nbase = tinyconfig\n"
		"[machine \"q1\"]\ndriver = qemu\ngroup = q\n[job \"pf1\"]\ngroup = q\n"
		"kconfig = tiny\nsuite = will-it-scale\ntest = page_fault1\nmode = process\n"
		"nr-task = 1\n",
		pg_dir());
	assert_ok(file_write(path, text, strlen(text), 0600, &e), &e);
	return 0;
}

static int stop(void **state)
{
	free(repo_scratch);
	return pg_stop(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_tells_people_and_programs),
		cmocka_unit_test(list_filters_and_can_set_the_exit_code),
		cmocka_unit_test(show_finds_each_kind_of_thing),
		cmocka_unit_test(tokens_are_made_listed_and_revoked),
		cmocka_unit_test(bisect_start_names_what_is_wrong_and_what_there_is),
		cmocka_unit_test(bisect_start_quotes_options_as_they_are_written),
		cmocka_unit_test(bisect_start_stores_and_status_shows),
		cmocka_unit_test(bisect_watch_ends_with_the_bisection),
		cmocka_unit_test(a_database_that_does_not_run_is_one_line),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
