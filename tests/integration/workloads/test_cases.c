/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cases of vm-scalability as plans have them, on a small machine, carried out as an agent does;
 * what they print is read by the parser.
 */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "runners/suites/vms.h"
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	    (UINT64_C(1) << 20)
#define AT_ONCE	    8
#define CASES_MAX   128
#define SETUP_BROKE 100

static const struct suite_machine small = {
	.cpus = 2, .nodes = 1, .mem_total_bytes = 256 * MIB, .mem_available_bytes = 224 * MIB
};
/* The two that make many processes are asked for fewer of them, but that is not in the plan. */
static const struct suite_machine larger = {
	.cpus = 2, .nodes = 1, .mem_total_bytes = 4096 * MIB, .mem_available_bytes = 4096 * MIB
};

static struct suite_param params[] = { { (char[]){ "nr_task" }, (char[]){ "2" } },
				       { (char[]){ "runtime" }, (char[]){ "1" } },
				       { (char[]){ "shm_size" }, (char[]){ "32M" } } };

/* One case at work: its folder, and the process that carries its plan out. */
struct job {
	const struct vms_case *c;
	struct suite_plan plan;
	char dir[256];
	pid_t pid;
	int status;
	bool refused, running, ended;
	/* The value of the machine that it changes, or NULL. */
	const char *changes;
};

static char root[] = TEST_BIN_DIR "/../tests/cases.XXXXXX";

static char *expand(const char *word, unsigned copy)
{
	const char *at = strstr(word, "{i}");

	if (!strcmp(word, "20000"))
		return xstrdup("200");
	if (!strcmp(word, "10"))
		return xstrdup("1");
	return at ? xasprintf("%.*s%u%s", (int)(at - word), word, copy, at + 3) : xstrdup(word);
}

static pid_t start_copy(const struct suite_command *c, unsigned copy)
{
	char *argv[32];
	pid_t pid = fork();
	size_t n = 0;

	if (pid != 0)
		return pid;
	for (; c->argv[n] && n + 1 < ARRAY_SIZE(argv); n++)
		argv[n] = expand(c->argv[n], copy);
	argv[n] = NULL;
	(void)execv(WORKLOADS, argv);
	_exit(127);
}

static int run_command(const struct suite_command *c)
{
	int bad = 0, status;

	for (unsigned i = 0; i < c->copies; i++)
		if (start_copy(c, i) < 0)
			return 1;
	for (unsigned i = 0; i < c->copies; i++)
		if (wait(&status) < 0 || status != 0)
			bad = 1;
	return bad;
}

static int run_phase(const struct suite_plan *plan, enum suite_phase phase)
{
	int bad = 0;

	for (size_t i = 0; i < plan->n && (!bad || phase == PHASE_CLEANUP); i++)
		if (plan->commands[i].phase == phase)
			bad |= run_command(&plan->commands[i]);
	return bad;
}

/* In a process of its own: its exit status is 0, 1, or SETUP_BROKE. */
static void carry_out(const struct job *j)
{
	int fd, setup, bad;

	(void)!nice(10);
	if (chdir(j->dir) < 0)
		_exit(1);
	fd = open("output", O_CREAT | O_RDWR | O_APPEND, 0600);
	(void)dup2(fd, STDOUT_FILENO);
	(void)dup2(fd, STDERR_FILENO);
	setup = run_phase(&j->plan, PHASE_SETUP);
	bad = setup ? 0 : run_phase(&j->plan, PHASE_RUN);
	bad |= run_phase(&j->plan, PHASE_CLEANUP);
	_exit(bad ? 1 : setup ? SETUP_BROKE : 0);
}

static void start_job(struct job *j)
{
	(void)snprintf(j->dir, sizeof(j->dir), "%s/%s", root, j->c->name);
	assert_int_equal(mkdir(j->dir, 0700), 0);
	j->pid = fork();
	assert_true(j->pid >= 0);
	if (j->pid == 0)
		carry_out(j);
}

static bool has_rate(const struct vms_case *c)
{
	return !c->no_rate;
}

/* What a case asks for can be missing here; then the set-up says so. */
static void check_refusal(const struct job *j, const char *out)
{
	static const char *const reasons[] = { "Operation not permitted",
					       "Permission denied",
					       "in memory (",
					       "nr_hugepages",
					       "nr_overcommit_hugepages",
					       "ksm",
					       "cgroup" };

	assert_null(strstr(out, "./case-"));
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (j->c->needs && strstr(out, reasons[i]))
			return;
	fail_msg("%s: set-up failed: %s", j->c->name, out);
}

static void check_parsed(const struct job *j, const char *text, size_t len)
{
	const char *headline = suite_headline(&suite_vms, j->c->name, NULL, 0);
	const struct suite_metric *m;
	struct suite_output out;
	struct err e = { 0 };

	assert_ok(suite_parse(&suite_vms, j->c->name, text, len, params, ARRAY_SIZE(params), &out,
			      &e),
		  &e);
	m = suite_metric_find(&out, headline);
	if (out.problems_n > 0 || !m || !m->headline)
		fail_msg("%s: no %s: %s: %s", j->c->name, headline,
			 out.problems_n ? out.problems[0].text : "", text);
	suite_output_done(&out);
}

static size_t rates_wanted(const struct vms_case *c)
{
	switch (c->shape) {
	case SHAPE_TRUNCATE:
		return 1;
	case SHAPE_READ_TWICE:
		return 4;
	default:
		return 2;
	}
}

static void check_lines(const struct job *j, const char *text)
{
	static const char any_rate[] = "[0-9]+ bytes / [0-9]+ usecs = [0-9]+ KB/s|"
				       "[0-9]+ bytes \\(.*\\) copied, [0-9.]+ s, [0-9.]+ [kMG]?B/s|"
				       "[0-9]+ bytes truncated in [0-9.]+-[0-9.]+ seconds|"
				       "[0-9]+ bytes remapped, [0-9]+ usecs, [0-9]+ MB/s";
	size_t rates = count_lines(text, any_rate);

	assert_int_equal(count_lines(text, "\\./case-[a-z-]+"), 1);
	if (rates != (has_rate(j->c) ? rates_wanted(j->c) : 0))
		fail_msg("%s: %zu rates: %s", j->c->name, rates, text);
	if (!strcmp(j->c->name, "truncate-seq"))
		assert_int_equal(count_lines(text, "[0-9]+ bytes faulted in [0-9.]+-[0-9.]+ "
						   "seconds"),
				 1);
	if (j->c->no_rate)
		assert_int_equal(count_lines(text, "case [a-z-]+ took [0-9]+ usecs"), 1);
}

/* Memory in pieces has no huge pages to give, and locks are root's; then the run must fail. */
static bool may_fail(const struct vms_case *c, const char *out)
{
	if (c->needs & VMS_NEEDS_ROOT && geteuid() != 0)
		return true;
	return c->needs & VMS_NEEDS_HUGETLB &&
	       (strstr(out, "huge pages could be made") || strstr(out, "Cannot allocate memory") ||
		strstr(out, "killed by signal 7"));
}

static void check_job(struct job *j)
{
	_cleanup_(freep) char *path = xasprintf("%s/output", j->dir);
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(path, 64 << 20, &text, &e), &e);
	assert_true(WIFEXITED(j->status));
	if (WEXITSTATUS(j->status) == SETUP_BROKE) {
		(void)printf("%s is refused: %s", j->c->name, strbuf_str(&text));
		check_refusal(j, strbuf_str(&text));
	} else if (j->status == 0 || !may_fail(j->c, strbuf_str(&text))) {
		if (j->status != 0)
			fail_msg("%s failed: %s", j->c->name, strbuf_str(&text));
		check_lines(j, strbuf_str(&text));
		check_parsed(j, strbuf_str(&text), text.len);
	}
	/* Nothing is left but the output: that folder can be removed then. */
	assert_int_equal(unlink(path), 0);
	if (rmdir(j->dir) < 0)
		fail_msg("%s leaves something in %s", j->c->name, j->dir);
	suite_plan_done(&j->plan);
}

/* set-sysctl … NAME VALUE */
static const char *sysctl_name(const struct suite_command *c)
{
	size_t n = 0;

	while (c->argv[n])
		n++;
	return c->argv[n - 2];
}

static void plan_job(struct job *j, const struct vms_case *c)
{
	bool forks = c->size == SIZE_NONE && c->file == VMS_FILE_NONE;
	unsigned lacking = VMS_NEEDS_SWAP | VMS_NEEDS_NODES;
	struct err e = { 0 };
	int r = suite_plan_make(&suite_vms, c->name, params, ARRAY_SIZE(params),
				forks ? &larger : &small, &j->plan, &e);

	j->c = c;
	j->refused = r < 0;
	if (r < 0)
		assert_int_equal(r, ERR_NOSPACE);
	if (j->refused != ((c->needs & lacking) != 0))
		fail_msg("%s: %s", c->name, e.msg);
	for (size_t i = 0; i < j->plan.n; i++)
		if (!strcmp(j->plan.commands[i].argv[0], "set-sysctl"))
			j->changes = sysctl_name(&j->plan.commands[i]);
}

/* Cases that change the same value of the machine must not meet. */
static bool meets_another(const struct job *j, const struct job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (jobs[i].running && jobs[i].changes && j->changes &&
		    !strcmp(jobs[i].changes, j->changes))
			return true;
	return false;
}

static struct job *next_job(struct job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!jobs[i].refused && jobs[i].pid == 0 && !meets_another(&jobs[i], jobs, n))
			return &jobs[i];
	return NULL;
}

/* Waits until one of the running jobs is over. */
static void end_one(struct job *jobs, size_t n)
{
	int status;
	pid_t pid = wait(&status);

	assert_true(pid > 0);
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].pid != pid)
			continue;
		jobs[i].status = status;
		jobs[i].running = false;
		jobs[i].ended = true;
		return;
	}
	fail_msg("process %d is no job", (int)pid);
}

static void every_case_prints_what_the_parser_reads(void **state)
{
	static struct job jobs[CASES_MAX];
	size_t n = 0, running = 0;
	struct job *j;

	(void)state;
	for (; vms_case_at(n); n++) {
		assert_true(n < ARRAY_SIZE(jobs));
		plan_job(&jobs[n], vms_case_at(n));
	}
	for (;;) {
		while (running < AT_ONCE && (j = next_job(jobs, n))) {
			start_job(j);
			j->running = true;
			running++;
		}
		if (running == 0)
			break;
		end_one(jobs, n);
		running--;
	}
	for (size_t i = 0; i < n; i++)
		if (jobs[i].ended)
			check_job(&jobs[i]);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	struct err e = { 0 };

	(void)state;
	return file_remove_tree(root, &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_prints_what_the_parser_reads),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
