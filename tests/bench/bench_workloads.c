/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the harness of the bundled tests costs, and how much their results spread.
 *
 * The cost: the real program and a bare loop of the same system calls stand on the same CPU and take
 * turns of a few milliseconds, stopped and continued by signals. Passes are counted for each second
 * of CPU time that they had. The median of the ratios of neighbours does not see what else goes on.
 */
#include "bot/base/child.h"
#include "bot/base/cleanup.h"
#include "bot/base/clock.h"
#include "runners/suites/suite.h"
#include "tests/integration/workloads/program.h"
#include "tests/test.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BARE_LOOPS TEST_BIN_DIR "/../tests/bare_loops"
/* Where pages and stacks happen to lie counts for a percent: begin anew so often. */
#define ROUNDS	    8
#define PAIRS	    40
#define WINDOW_NS   20000000L
#define RUNS	    10
#define WORST_RATIO 0.99

static const char *const tests_measured[] = { "page_fault1", "brk1", "context_switch1",
					      "getppid1" };

/* struct side - processes that work together, and the memory that holds their count. */
struct side {
	pid_t pids[2];
	int n;
	int mem_fd;
	off_t at;
};

static uint64_t side_count(const struct side *s)
{
	uint64_t v = 0;

	assert_int_equal(pread(s->mem_fd, &v, sizeof(v), s->at), sizeof(v));
	return v;
}

static double side_cpu_s(const struct side *s)
{
	double sum = 0;

	for (int i = 0; i < s->n; i++) {
		struct timespec t;
		clockid_t id;

		assert_int_equal(clock_getcpuclockid(s->pids[i], &id), 0);
		assert_int_equal(clock_gettime(id, &t), 0);
		sum += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	}
	return sum;
}

static bool is_stopped(pid_t pid)
{
	char path[64], text[512];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	return strstr(text, ") T ") != NULL;
}

static void side_signal(const struct side *s, int sig)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	for (int i = 0; i < s->n; i++)
		assert_int_equal(kill(s->pids[i], sig), 0);
	for (int i = 0; sig == SIGSTOP && i < s->n; i++)
		while (!is_stopped(s->pids[i]))
			(void)nanosleep(&pause, NULL);
}

/* Passes for each second of CPU time in one turn. */
static double side_turn(const struct side *s)
{
	const struct timespec window = { .tv_nsec = WINDOW_NS };
	double cpu = side_cpu_s(s);
	uint64_t count = side_count(s);

	side_signal(s, SIGCONT);
	(void)nanosleep(&window, NULL);
	side_signal(s, SIGSTOP);
	cpu = side_cpu_s(s) - cpu;
	return cpu > 0 ? (double)(side_count(s) - count) / cpu : 0;
}

/* The counters are the only shared mapping that has no file. */
static off_t counters_at(pid_t pid)
{
	_cleanup_(freep) char *path = xasprintf("/proc/%d/maps", (int)pid);
	unsigned long start = 0;
	char line[512];
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "rw-s") && strstr(line, "/dev/zero (deleted)"))
			start = strtoul(line, NULL, 16);
	(void)fclose(f);
	assert_true(start != 0);
	return (off_t)start;
}

static void add_helper(struct side *s, const char *test)
{
	if (strcmp(test, "context_switch1") != 0)
		return;
	program_await_children(s->pids[0], &s->pids[1], 1);
	s->n = 2;
}

static void ours_start(struct side *s, struct program *p, const char *test, int cpu)
{
	_cleanup_(freep) char *line = xasprintf("%s_processes -t 1 -s 0", test);
	_cleanup_(freep) char *mem = NULL;

	*s = (struct side){ .n = 1 };
	program_start(p, line, cpu);
	program_await_children(p->pid, &s->pids[0], 1);
	mem = xasprintf("/proc/%d/mem", (int)s->pids[0]);
	s->at = counters_at(s->pids[0]);
	s->mem_fd = open(mem, O_RDONLY | O_CLOEXEC);
	assert_true(s->mem_fd >= 0);
	while (side_count(s) == 0)
		(void)usleep(1000);
	add_helper(s, test);
	side_signal(s, SIGSTOP);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void bare_start(struct side *s, pid_t *ret_parent, const char *test, int cpu)
{
	char fd[16];
	pid_t pid;

	*s = (struct side){ .n = 1, .mem_fd = memfd_create("count", 0) };
	assert_true(s->mem_fd >= 0 && ftruncate(s->mem_fd, sizeof(uint64_t)) == 0);
	(void)snprintf(fd, sizeof(fd), "%d", s->mem_fd);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* As program_start() has the other one. */
		(void)!nice(10);
		pin(cpu);
		(void)execl(BARE_LOOPS, BARE_LOOPS, test, fd, (char *)NULL);
		_exit(127);
	}
	*ret_parent = pid;
	program_await_children(pid, &s->pids[0], 1);
	while (side_count(s) == 0)
		(void)usleep(1000);
	add_helper(s, test);
	side_signal(s, SIGSTOP);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare);
	return x[n / 2];
}

static int last_cpu(void)
{
	int last = 0;
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			last = cpu;
	return last;
}

/* One round: both sides are started, and take PAIRS turns each. */
static void measure_round(const char *test, double *ours, double *bare)
{
	int cpu = last_cpu();
	struct side a, b;
	struct program p;
	pid_t parent;

	ours_start(&a, &p, test, cpu);
	bare_start(&b, &parent, test, cpu);
	for (size_t i = 0; i < PAIRS; i++) {
		/* A B B A: what drifts meets both. */
		if (i % 2 == 0) {
			ours[i] = side_turn(&a);
			bare[i] = side_turn(&b);
		} else {
			bare[i] = side_turn(&b);
			ours[i] = side_turn(&a);
		}
	}
	(void)kill(parent, SIGKILL);
	(void)waitpid(parent, NULL, 0);
	(void)kill(p.pid, SIGKILL);
	program_wait(&p);
	program_done(&p);
	(void)close(a.mem_fd);
	(void)close(b.mem_fd);
}

static double overhead_ratio(const char *test)
{
	static double ours[ROUNDS * PAIRS], bare[ROUNDS * PAIRS], ratios[ROUNDS * PAIRS];
	double of_round[ROUNDS];
	size_t n = ROUNDS * PAIRS;
	double ratio;

	for (size_t r = 0; r < ROUNDS; r++) {
		measure_round(test, ours + r * PAIRS, bare + r * PAIRS);
		for (size_t i = r * PAIRS; i < (r + 1) * PAIRS; i++)
			ratios[i] = bare[i] > 0 ? ours[i] / bare[i] : 0;
		of_round[r] = median(ratios + r * PAIRS, PAIRS);
	}
	ratio = median(ratios, n);
	(void)median(of_round, ROUNDS);
	(void)printf("bench: %-16s %10.0f/s, bare loop %10.0f/s, ratio %.4f "
		     "(rounds %.4f to %.4f)\n",
		     test, median(ours, n), median(bare, n), ratio, of_round[0],
		     of_round[ROUNDS - 1]);
	return ratio;
}

static void the_harness_costs_less_than_a_hundredth(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tests_measured); i++)
		assert_true(overhead_ratio(tests_measured[i]) > WORST_RATIO);
}

static double result_of(const char *test)
{
	_cleanup_(freep) char *name = xasprintf("%s_processes", test);
	const char *argv[] = { WORKLOADS, name, "-s", "1", NULL };
	struct suite_param params[] = {
		{ (char *)(uintptr_t) "mode", (char *)(uintptr_t) "process" },
		{ (char *)(uintptr_t) "nr_task", (char *)(uintptr_t) "1" },
		{ (char *)(uintptr_t) "runtime", (char *)(uintptr_t) "1s" }
	};
	struct child_run_opts o = { .spawn = CHILD_OPTS_INIT, .total_s = 60 };
	struct child_result res = { 0 };
	struct suite_output out = { 0 };
	const struct suite_metric *m;
	struct err e = { 0 };
	double v;

	o.spawn.argv = argv;
	assert_ok(child_run(&o, &res, &e), &e);
	assert_int_equal(res.status, 0);
	assert_ok(suite_parse(suite_find("will-it-scale"), test, res.out, res.out_len, params,
			      ARRAY_SIZE(params), &out, &e),
		  &e);
	m = suite_metric_find(&out, "will-it-scale.per_process_ops");
	assert_non_null(m);
	v = m->value;
	suite_output_done(&out);
	child_result_done(&res);
	return v;
}

/*
 * A machine of a lab does nothing else; this one may. Sessions are groups of the scheduler, and only
 * one of its own may be preferred as a whole. Who may not do that has more noise.
 */
static void take_priority(void)
{
	int fd;

	if (setsid() >= 0) {
		fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
		(void)!write(fd, "-20", 3);
		(void)close(fd);
	}
	(void)!nice(-20);
}

static void ten_runs_spread(void **state)
{
	(void)state;
	take_priority();
	for (size_t i = 0; i < ARRAY_SIZE(tests_measured); i++) {
		double x[RUNS], mean = 0, var = 0;

		for (size_t k = 0; k < RUNS; k++) {
			x[k] = result_of(tests_measured[i]);
			mean += x[k] / RUNS;
		}
		for (size_t k = 0; k < RUNS; k++)
			var += (x[k] - mean) * (x[k] - mean) / (RUNS - 1);
		(void)printf("bench: %-16s %d runs of 1 s: mean %.0f/s, coefficient of variation "
			     "%.2f %%\n",
			     tests_measured[i], RUNS, mean, 100 * sqrt(var) / mean);
		assert_true(mean > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_harness_costs_less_than_a_hundredth),
		cmocka_unit_test(ten_runs_spread),
	};

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
