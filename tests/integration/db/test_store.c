/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Artefacts, jobs, machines and trees as rows. */
#include "bot/base/config.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/db/migrate_internal.h"
#include "bot/store/artefact.h"
#include "bot/store/boot.h"
#include "bot/store/job.h"
#include "bot/store/machine.h"
#include "bot/store/tree.h"
#include "runners/suites/suite.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int set_up(void **state)
{
	(void)state;
	pg_reset();
	return 0;
}

static int64_t num(const char *sql)
{
	struct db_rows rows = { 0 };
	struct err e = { 0 };
	int64_t n;

	assert_ok(db_raw_rows(pg_db(), sql, &rows, &e), &e);
	n = db_i64(&rows, 0, 0);
	db_rows_done(&rows);
	return n;
}

static const char *at(const char *name)
{
	static char buf[300];

	(void)snprintf(buf, sizeof(buf), "%s/%s", pg_dir(), name);
	return buf;
}

#define JOB                                                                                                                \
	"[machine \"m\"]\ndriver = qemu\ngroup = g\n[machine \"l\"]\ndriver = local\n[kconfig \"k\"]\nbase = tinyconfig\n" \
	"[tree \"t\"]\nurl = u\n[job \"j\"]\n"

static struct config *load(const char *text)
{
	struct config *c = NULL;
	struct err e = { 0 };
	char *all = xasprintf(JOB "%s", text);

	assert_ok(file_write(at("test.conf"), all, strlen(all), 0644, &e), &e);
	assert_ok(config_load(at("test.conf"), &c, &e), &e);
	free(all);
	return c;
}

#define GOOD \
	"suite = will-it-scale\ntest = page_fault1\nmode = process\nnr-task = 50%\ngroup = g\nkconfig = k\n"

static void artefacts_are_named_by_their_content(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };
	char hash[65];
	char again[65];
	char *path;

	(void)state;
	assert_ok(artefact_put(pg_db(), pg_dir(), "log", "a\0b", 3, hash, &e), &e);
	assert_ok(artefact_put(pg_db(), pg_dir(), "log", "a\0b", 3, again, &e), &e);
	assert_string_equal(hash, again);
	assert_int_equal(num("SELECT count(*) FROM artefact"), 1);
	assert_int_equal(num("SELECT size_bytes FROM artefact"), 3);
	strbuf_addstr(&b, "x");
	assert_ok(artefact_get(pg_dir(), hash, 3, &b, &e), &e);
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.s, "xa\0b", 4);
	assert_err(artefact_get(pg_dir(), hash, 2, &b, &e), ERR_TOO_BIG, &e);
	path = artefact_path(pg_dir(), hash);
	assert_int_equal(truncate(path, 2), 0);
	assert_err(artefact_get(pg_dir(), hash, 9, &b, &e), ERR_IO, &e);
	assert_non_null(strstr(e.msg, "altered"));
	assert_int_equal(b.len, 4);
	assert_int_equal(unlink(path), 0);
	assert_err(artefact_get(pg_dir(), hash, 9, &b, &e), ERR_NOENT, &e);
	free(path);
	strbuf_done(&b);
}

static void a_file_is_stored_only_when_it_is_one_and_not_too_big(void **state)
{
	struct err e = { 0 };
	char hash[65] = "untouched";

	(void)state;
	assert_ok(file_write(at("f"), "12345", 5, 0644, &e), &e);
	assert_err(artefact_put_file(pg_db(), pg_dir(), "image", at("f"), 4, hash, &e), ERR_TOO_BIG,
		   &e);
	assert_string_equal(hash, "untouched");
	assert_int_equal(num("SELECT count(*) FROM artefact"), 0);
	assert_ok(artefact_put_file(pg_db(), pg_dir(), "image", at("f"), 5, hash, &e), &e);
	/* Also when it is there already. */
	assert_err(artefact_put_file(pg_db(), pg_dir(), "image", at("f"), 4, hash, &e), ERR_TOO_BIG,
		   &e);
	(void)unlink(at("link"));
	assert_int_equal(symlink("/etc/passwd", at("link")), 0);
	assert_true(artefact_put_file(pg_db(), pg_dir(), "image", at("link"), 1 << 20, hash, &e) <
		    0);
	assert_true(artefact_put_file(pg_db(), pg_dir(), "image", pg_dir(), 1 << 20, hash, &e) < 0);
	assert_err(artefact_put_file(pg_db(), pg_dir(), "image", at("none"), 9, hash, &e),
		   ERR_NOENT, &e);
	assert_err(artefact_put(pg_db(), pg_dir(), "nonsense", "x", 1, hash, &e), ERR_DB, &e);
	assert_err(artefact_put(pg_db(), at("f"), "log", "y", 1, hash, &e), ERR_NOENT, &e);
}

static void what_a_killed_writer_left_is_swept(void **state)
{
	struct err e = { 0 };
	char hash[65];
	char *whole, *left, *written, *aside;
	int fd;

	(void)state;
	assert_ok(artefact_put(pg_db(), pg_dir(), "log", "whole", 5, hash, &e), &e);
	whole = artefact_path(pg_dir(), hash);
	left = xasprintf("%s.abcdef", whole);
	written = xasprintf("%s.ghijkl", whole);
	aside = xasprintf("%s.away", whole);
	assert_ok(file_write(left, "ha", 2, 0644, &e), &e);
	assert_ok(file_write(written, "lf", 2, 0644, &e), &e);
	assert_ok(file_write(aside, "by a person", 11, 0644, &e), &e);
	fd = open(written, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_ok(artefact_sweep(pg_dir(), 1000, &e), &e);
	assert_int_equal(access(left, F_OK), 0);
	assert_ok(artefact_sweep(pg_dir(), 0, &e), &e);
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(access(written, F_OK), 0);
	assert_int_equal(access(whole, F_OK), 0);
	assert_int_equal(close(fd), 0);
	assert_ok(artefact_sweep(pg_dir(), 0, &e), &e);
	assert_int_equal(access(written, F_OK), -1);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(unlink(aside), 0);
	free(aside);
	free(whole);
	free(left);
	free(written);
}

static void bad_job(const char *text, const char *word, const char *choice)
{
	struct config *c = load(text);
	struct err e = { 0 };

	assert_err(job_check(c, "j", &e), ERR_CONFIG, &e);
	if (!strstr(e.msg, word) || !strstr(e.msg, choice) || !strstr(e.msg, "job"))
		fail_msg("'%s' has no '%s' or '%s'", e.msg, word, choice);
	config_free(c);
}

static void jobs_that_cannot_run_are_refused_with_the_choices(void **state)
{
	struct config *c = load(GOOD);
	struct err e = { 0 };

	(void)state;
	assert_ok(job_check(c, "j", &e), &e);
	config_free(c);
	bad_job(GOOD "suite = wil-it-scale\n", "'wil-it-scale'", "will-it-scale, vm-scalability");
	bad_job(GOOD "test = page_fault9\n", "page_fault9", "page_fault1");
	bad_job(GOOD "mode = fibre\n", "fibre", "process");
	bad_job(GOOD "nr-task = 0\n", "nr_task", "0");
	bad_job(GOOD "nr-task = -5%\n", "nr_task", "-5%");
	bad_job(GOOD "nr-task = 1e9\n", "nr_task", "1e9");
	bad_job(GOOD "runtime = forever\n", "runtime", "forever");
	bad_job(GOOD "runtime = 0\n", "runtime", "0");
	bad_job(GOOD "unit-size = 1G\n", "unit_size", "");
	bad_job(GOOD "pin = everywhere\n", "everywhere", "");
	bad_job(GOOD "metric = per_process_ops\n", "'per_process_ops'",
		"will-it-scale.per_process_ops");
	bad_job(GOOD "metric = vm-scalability.throughput\n", "metric", "will-it-scale");
	bad_job("suite = exec\ntest = t\ngroup = l\nparam = command=/bin/true\n"
		"metric = exec.lat\nparam = better=lower\n",
		"param better is that of 'exec.value'", "say param = headline=exec.lat");
	bad_job(GOOD "group = h\n", "job.j.group", "'h'");
	bad_job("suite = will-it-scale\ntest = page_fault1\nmode = process\ngroup = g\n",
		"[job \"j\"]", "'kconfig'");
	c = load("suite = will-it-scale\ntest = page_fault1\nmode = process\ngroup = l\n");
	assert_ok(job_check(c, "j", &e), &e); /* boots nothing, needs no kconfig */
	config_free(c);
	c = load("suite = exec\ntest = t\ngroup = l\nparam = command=/bin/true\nmetric = exec.lat\n"
		 "param = better=lower\nparam = headline=exec.lat\n");
	assert_ok(job_check(c, "j", &e), &e);
	config_free(c);
}

static int64_t sync_job(const char *text)
{
	struct config *c = load(text);
	struct err e = { 0 };
	int64_t id = 0;

	assert_ok(job_sync(pg_db(), c, "j", &id, &e), &e);
	config_free(c);
	return id;
}

static void the_same_definition_is_the_same_row(void **state)
{
	static const char *const changes[] = { "test = page_fault2\n", "mode = thread\n",
					       "nr-task = 100%\n",     "runtime = 7s\n",
					       "group = l\n",	       "thp = never\n",
					       "runs-per-boot = 2\n",  "min-effect = 2%\n" };
	int64_t ids[10];
	struct job j = { 0 };
	struct err e = { 0 };

	(void)state;
	ids[0] = sync_job(GOOD);
	assert_int_equal(sync_job(GOOD), ids[0]);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		char *text = xasprintf("%s%s", GOOD, changes[i]);

		ids[i + 1] = sync_job(text);
		for (size_t k = 0; k <= i; k++)
			assert_int_not_equal(ids[i + 1], ids[k]);
		free(text);
	}
	assert_int_equal(sync_job(GOOD), ids[0]);
	assert_int_equal(sync_job(GOOD "timeout = 77s\n"), ids[0]);
	assert_ok(job_get(pg_db(), ids[0], &j, &e), &e);
	assert_true(j.timeout_s == 77);
	assert_string_equal(j.name, "j");
	assert_string_equal(j.suite, "will-it-scale");
	assert_string_equal(j.test, "page_fault1");
	assert_string_equal(j.metric, "will-it-scale.per_process_ops");
	assert_string_equal(json_str(j.params, "nr_task", ""), "50%");
	assert_string_equal(j.kconfig, "k");
	assert_near(j.min_effect, 0.01, 1e-12);
	job_done(&j);
	job_done(&j);
	assert_err(job_get(pg_db(), 4711, &j, &e), ERR_NOENT, &e);
}

static void a_job_measures_the_trees_that_it_names(void **state)
{
	struct config *c = load(GOOD "tree = t\n");

	(void)state;
	assert_true(job_wants_tree(c, "j", "t"));
	assert_false(job_wants_tree(c, "j", "other"));
	config_free(c);
	c = load(GOOD);
	assert_false(job_wants_tree(c, "j", "t"));
	assert_string_equal(machine_group(c, "m"), "g");
	assert_string_equal(machine_group(c, "l"), "l");
	config_free(c);
}

static int fault(const char *machine, struct err *e)
{
	return machine_outcome(pg_db(), machine, MACHINE_FAULT, "no answer", NULL, e);
}

static void the_third_fault_in_a_row_takes_a_machine_out(void **state)
{
	struct config *c = load(GOOD);
	struct err e = { 0 };

	(void)state;
	assert_ok(machine_sync(pg_db(), c, &e), &e);
	assert_ok(machine_sync(pg_db(), c, &e), &e);
	assert_int_equal(num("SELECT count(*) FROM machine"), 2);
	for (int i = 0; i < 2; i++) {
		assert_ok(fault("m", &e), &e);
		assert_ok(fault("m", &e), &e);
		assert_ok(machine_outcome(pg_db(), "m", MACHINE_OK, NULL, NULL, &e), &e);
		assert_int_equal(
			num("SELECT faults FROM machine WHERE name = 'm' AND health = 'good' AND note IS NULL"),
			0);
	}
	for (int i = 0; i < 3; i++)
		assert_ok(fault("m", &e), &e);
	assert_int_equal(
		num("SELECT count(*) FROM machine WHERE health = 'quarantined' AND note = 'no answer'"),
		1);
	assert_ok(machine_sync(pg_db(), c, &e), &e); /* a restart does not put it back */
	assert_int_equal(num("SELECT count(*) FROM machine WHERE health = 'quarantined'"), 1);
	config_free(c);
}

#define H1 "1111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222"

static void trees_count_failures_and_keep_their_heads(void **state)
{
	struct config *c = load(GOOD);
	struct tree_head *heads = NULL;
	struct err e = { 0 };
	size_t n = 9;
	int failures = 9;
	bool fresh;

	(void)state;
	assert_ok(tree_sync(pg_db(), c, &e), &e);
	config_free(c);
	assert_ok(tree_fetched(pg_db(), "t", NULL, &failures, &e), &e);
	assert_int_equal(failures, 0);
	for (int i = 1; i < 4; i++) {
		assert_ok(tree_fetched(pg_db(), "t", "not reachable", &failures, &e), &e);
		assert_int_equal(failures, i);
	}
	assert_ok(tree_fetched(pg_db(), "t", NULL, &failures, &e), &e);
	assert_int_equal(failures, 0);
	assert_err(tree_fetched(pg_db(), "none", NULL, &failures, &e), ERR_NOENT, &e);
	assert_ok(tree_looked_at(pg_db(), "t", "no branch 'x'", &fresh, &e), &e);
	assert_true(fresh);
	assert_ok(tree_looked_at(pg_db(), "t", "no branch 'x'", &fresh, &e), &e);
	assert_false(fresh);
	assert_ok(tree_looked_at(pg_db(), "t", NULL, &fresh, &e), &e);
	assert_true(fresh);
	assert_ok(tree_event(pg_db(), "t", "b", "first", NULL, H1, &e), &e);
	assert_ok(tree_event(pg_db(), "t", "a/x", "new", NULL, H1, &e), &e);
	assert_ok(tree_event(pg_db(), "t", "b", "forced", H1, H2, &e), &e);
	assert_ok(tree_heads(pg_db(), "t", &heads, &n, &e), &e);
	assert_int_equal(n, 2);
	assert_string_equal(heads[0].branch, "a/x");
	assert_string_equal(heads[1].commit, H2);
	tree_heads_free(heads, n);
	assert_ok(tree_event(pg_db(), "t", "b", "deleted", H2, NULL, &e), &e);
	assert_ok(tree_heads(pg_db(), "t", &heads, &n, &e), &e);
	assert_int_equal(n, 1);
	tree_heads_free(heads, n);
	assert_err(tree_event(pg_db(), "t", "b", "eaten", NULL, H1, &e), ERR_DB, &e);
	assert_int_equal(num("SELECT count(*) FROM head_event"), 4);
}

static void hostile_commits_are_stored_as_text(void **state)
{
	const char *parents[] = { H2 };
	char *big = xcalloc(1, 100001);
	struct commit_row row = { .hash = H1,
				  .parents = parents,
				  .n_parents = 1,
				  .subject = "<script>\033[31m \xff\xfe 'x'; DROP TABLE work; --",
				  .author_name = "\xc3",
				  .author_mail = "",
				  .committer_name = "{\"a\",NULL}",
				  .committer_mail = "\\",
				  .author_time = -1,
				  .commit_time = 1920000000,
				  .message = big,
				  .message_len = 100000 };
	struct commit c = { 0 };
	struct err e = { 0 };

	(void)state;
	memset(big, 'm', 100000);
	big[5] = '\0';
	assert_ok(commit_insert(pg_db(), &row, &e), &e);
	row.subject = "other";
	assert_ok(commit_insert(pg_db(), &row, &e), &e);
	assert_ok(commit_get(pg_db(), H1, &c, &e), &e);
	assert_string_equal(c.subject,
			    "<script>\033[31m \xef\xbf\xbd\xef\xbf\xbd 'x'; DROP TABLE work; --");
	assert_string_equal(c.author_name, "\xef\xbf\xbd");
	assert_string_equal(c.committer_name, "{\"a\",NULL}");
	assert_string_equal(c.parent, H2);
	assert_int_equal(c.message_len, 100000);
	assert_memory_equal(c.message, big, 100000);
	commit_done(&c);
	commit_done(&c);
	row.hash = H2;
	row.n_parents = 0;
	row.subject = big;
	row.author_time = INT64_MAX;
	assert_true(commit_insert(pg_db(), &row, &e) < 0 || commit_get(pg_db(), H2, &c, &e) == 0);
	commit_done(&c);
	assert_err(commit_get(pg_db(), "3333", &c, &e), ERR_NOENT, &e);
	free(big);
}

enum {
	WIDE = 5000
};

/* The default monitors give more than a thousand metrics on a real machine. */
static void runs_with_thousands_of_metrics_are_stored(void **state)
{
	struct suite_metric *m = xcalloc(WIDE, sizeof(*m));
	struct run_row run = { .class = "ok", .wall_s = 1, .run_s = 1 };
	struct commit_row commit = { .hash = H1,
				     .subject = "s",
				     .author_name = "a",
				     .author_mail = "a",
				     .committer_name = "c",
				     .committer_mail = "c",
				     .message = "s" };
	struct err e = { 0 };
	char *sql =
		xasprintf("INSERT INTO boot (commit, job, wanted_runs) VALUES ('" H1 "', %lld, 3) "
			  "RETURNING id",
			  (long long)sync_job(GOOD));
	int64_t boot;

	(void)state;
	assert_ok(commit_insert(pg_db(), &commit, &e), &e);
	boot = num(sql);
	for (size_t i = 0; i < WIDE; i++)
		m[i] = (struct suite_metric){ .name = xasprintf("interrupts.%zu", i),
					      .unit = "1/s",
					      .about = "a",
					      .value = (double)i };
	for (run.n = 1; run.n <= 2; run.n++)
		assert_ok(run_add(pg_db(), boot, &run, m, WIDE, &e), &e);
	assert_ok(run_add(pg_db(), boot, &run, m, WIDE - 1, &e), &e);
	assert_int_equal(num("SELECT count(*) FROM run_metric"), 3 * WIDE - 1);
	assert_int_equal(
		num("SELECT count(*) FROM run_metric WHERE metric <> 'interrupts.' || value"), 0);
	assert_int_equal(num("SELECT count(*) FROM metric_layout"), 2);
	for (size_t i = 0; i < WIDE; i++)
		free(m[i].name);
	free(m);
	free(sql);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(artefacts_are_named_by_their_content),
		T(a_file_is_stored_only_when_it_is_one_and_not_too_big),
		T(what_a_killed_writer_left_is_swept),
		T(jobs_that_cannot_run_are_refused_with_the_choices),
		T(the_same_definition_is_the_same_row),
		T(a_job_measures_the_trees_that_it_names),
		T(the_third_fault_in_a_row_takes_a_machine_out),
		T(trees_count_failures_and_keep_their_heads),
		T(hostile_commits_are_stored_as_text),
		T(runs_with_thousands_of_metrics_are_stored),
	};

	return cmocka_run_group_tests(tests, pg_start, pg_stop);
}
