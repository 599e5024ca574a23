/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `kperfbot judge`, from files to JSON: 3,000 metrics with 10 + 10 runs, the same with a history of 30
 * kernels, and 100,000 metrics; beside jansson loading the same files and writing nothing, in the same
 * run. Times are CPU seconds of the process, the least of some: others may be using the machine.
 */
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET_S 0.150

static char folder[] = "/var/tmp/kperfbot-bench-XXXXXX";

static uint64_t bits = 20240229;

/* About normal: the sum of twelve equal ones. */
static double noise(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
		sum += (double)(bits >> 11) / 9007199254740992.0;
	}
	return sum;
}

static void add_name(FILE *f, int i)
{
	if (i < 2)
		(void)fprintf(f, "\"suite.%s\":", i ? "workload" : "throughput");
	else
		(void)fprintf(f, "\"monitor%02d.group%03d.some_counter_name_%04d\":", i % 20,
			      i % 150, i);
}

static void put_kernel(FILE *f, const char *kernel, int metrics, int runs, bool describe,
		       double shift)
{
	(void)fprintf(f,
		      "{\"format\":\"kperfbot-runs/1\",\"kernel\":\"%s\",\"machine\":\"m\","
		      "\"metrics\":{",
		      kernel);
	for (int i = 0; describe && i < metrics; i++) {
		(void)fputs(i ? "," : "", f);
		add_name(f, i);
		(void)fprintf(f, "{\"unit\":\"ops/s\",\"better\":\"%s\",\"headline\":%s}",
			      i ? "none" : "higher", i ? "false" : "true");
	}
	(void)fputs("},\"runs\":[", f);
	for (int r = 0; r < runs; r++) {
		(void)fprintf(f, "%s{\"boot\":\"%s-%d\",\"order\":%d,\"values\":{", r ? "," : "",
			      kernel, r, 2 * r + (shift != 1));
		for (int i = 0; i < metrics; i++) {
			double center = exp(4 + i * 7 % 11);

			(void)fputs(i ? "," : "", f);
			add_name(f, i);
			(void)fprintf(f, "%.9g",
				      center * exp(.01 * noise()) * (i % 10 ? 1 : shift));
		}
		(void)fputs("}}", f);
	}
	(void)fputs("]}\n", f);
}

static FILE *create(const char *name)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	return f;
}

static void make_pair(int metrics)
{
	FILE *f = create("base.json");

	put_kernel(f, "base", metrics, 10, true, 1);
	assert_int_equal(fclose(f), 0);
	f = create("head.json");
	put_kernel(f, "head", metrics, 10, true, .93);
	assert_int_equal(fclose(f), 0);
}

struct cost {
	double cpu_s, wall_s;
	long peak_kib;
};

static double seconds(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The child does the work of @task; NULL: judge with @args. */
static struct cost run_once(void (*task)(void), const char *const *args)
{
	double start = seconds();
	struct rusage u;
	struct cost c;
	int status;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (chdir(folder) < 0 || !freopen("/dev/null", "w", stdout))
			_exit(99);
		if (task) {
			task();
			_exit(1);
		}
		(void)execv(args[0], (char *const *)(uintptr_t)args);
		_exit(99);
	}
	assert_int_equal(wait4(pid, &status, 0, &u), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	c.wall_s = seconds() - start;
	c.cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		  (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	c.peak_kib = u.ru_maxrss;
	return c;
}

static struct cost least(int times, void (*task)(void), const char *const *args)
{
	struct cost best = run_once(task, args);

	for (int i = 1; i < times; i++) {
		struct cost c = run_once(task, args);

		best.cpu_s = fmin(best.cpu_s, c.cpu_s);
		best.wall_s = fmin(best.wall_s, c.wall_s);
		best.peak_kib = c.peak_kib < best.peak_kib ? c.peak_kib : best.peak_kib;
	}
	return best;
}

static void load_both(void)
{
	if (!json_load_file("base.json", JSON_REJECT_DUPLICATES, NULL) ||
	    !json_load_file("head.json", JSON_REJECT_DUPLICATES, NULL))
		_exit(99);
}

static struct cost judge(int times, bool history)
{
	static const char program[] = TEST_BIN_DIR "/kperfbot";
	const char *args[] = { program,	    "judge",	 "--json",    "base.json",
			       "head.json", "--history", "past.json", NULL };

	if (!history)
		args[5] = NULL;
	return least(times, NULL, args);
}

static void report(const char *what, const struct cost *c, const struct cost *bare)
{
	(void)printf(
		"bench: judge, %s: %.0f ms CPU, %.0f ms, %ld MiB; jansson loading the two files "
		"%.0f ms CPU, %ld MiB: ratio %.2f\n",
		what, 1000 * c->cpu_s, 1000 * c->wall_s, c->peak_kib >> 10, 1000 * bare->cpu_s,
		bare->peak_kib >> 10, c->cpu_s / bare->cpu_s);
}

static void three_thousand_metrics(void **state)
{
	struct cost bare, c;
	FILE *f;

	(void)state;
	make_pair(3000);
	bare = least(5, load_both, NULL);
	c = judge(7, false);
	report("3,000 metrics, 10 + 10 runs", &c, &bare);
#ifdef __OPTIMIZE__
	assert_true(c.cpu_s <= TARGET_S);
#endif
	f = create("past.json");
	for (int i = 0; i < 30; i++) {
		char kernel[24];

		(void)snprintf(kernel, sizeof(kernel), "past%d", i);
		put_kernel(f, kernel, 3000, 5, false, 1);
	}
	assert_int_equal(fclose(f), 0);
	c = judge(3, true);
	report("the same with a history of 30 kernels, 5 runs each", &c, &bare);
}

static void a_hundred_thousand_metrics(void **state)
{
	struct cost bare, c;

	(void)state;
	make_pair(100000);
	bare = least(1, load_both, NULL);
	c = judge(2, false);
	report("100,000 metrics, 10 + 10 runs", &c, &bare);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const files[] = { "base.json", "head.json", "past.json" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		(void)unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_thousand_metrics),
		cmocka_unit_test(a_hundred_thousand_metrics),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
