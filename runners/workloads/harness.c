/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/harness.h"

#include "runners/workloads/files.h"
#include "runners/workloads/topology.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARMUP_SAMPLES 6
/* No two counters may share a cache line, nor be fetched with one another's. */
#define COUNTER_STRIDE ((size_t)256)

enum pinning {
	PIN_CORE,
	PIN_PU,
	PIN_NONE
};

/*
 * One run. A single static one, because signal handlers, tasks and helpers all need it.
 * counters: COUNTER_STRIDE bytes a task.
 * go: tasks wait until its read end is readable. The byte is never read, so that it wakes them all.
 */
static struct {
	const struct wis_test *test;
	bool threads, verbose;
	enum pinning pin;
	unsigned tasks;
	uint64_t samples;
	struct topology topo;
	char *counters;
	int go[2];
	pid_t main_pid;
	pid_t pids[WIS_TASKS_MAX];
	pthread_t ids[WIS_TASKS_MAX];
	unsigned started;
} run;

const char *bundled_name = "kperfbot-workloads";

static volatile sig_atomic_t stop_signal;

/* Threads cannot be killed one by one. They are parked in the handler of this signal. */
#define PARK_SIGNAL   SIGUSR2
#define PARK_WAITS_MS 2000
static unsigned parked;

static __attribute__((format(printf, 1, 0))) void vsay(const char *fmt, va_list ap)
{
	char text[512];
	int err = errno;
	int n = snprintf(text, sizeof(text), "%s: ", bundled_name);

	errno = err;
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): started by all callers */
	n += vsnprintf(text + n, sizeof(text) - (size_t)n - 1, fmt, ap);
	if (n > (int)sizeof(text) - 2)
		n = (int)sizeof(text) - 2;
	text[n++] = '\n';
	/* One call, so that the lines of many tasks do not mix. */
	(void)!write(STDERR_FILENO, text, (size_t)n);
}

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
}

static void on_park(int sig)
{
	(void)sig;
	(void)__atomic_add_fetch(&parked, 1, __ATOMIC_SEQ_CST);
	for (;;)
		(void)pause();
}

/*
 * Bring the threads to a halt, so that none makes a file again that clean-up has taken away. One
 * that does not halt in time is stuck in the kernel and makes no files.
 */
static void park_threads(void)
{
	static const struct timespec ms = { .tv_nsec = 1000000 };
	struct sigaction sa = { .sa_handler = on_park };
	unsigned want = 0;

	(void)sigaction(PARK_SIGNAL, &sa, NULL);
	for (unsigned i = 0; i < run.started; i++)
		if (!pthread_equal(run.ids[i], pthread_self()))
			want += pthread_kill(run.ids[i], PARK_SIGNAL) == 0;
	for (int i = 0; i < PARK_WAITS_MS; i++) {
		if (__atomic_load_n(&parked, __ATOMIC_SEQ_CST) >= want)
			return;
		(void)nanosleep(&ms, NULL);
	}
}

static void kill_processes(void)
{
	for (unsigned i = 0; i < run.tasks; i++)
		if (run.pids[i] > 0)
			(void)kill(run.pids[i], SIGKILL);
	for (unsigned i = 0; i < run.tasks; i++)
		if (run.pids[i] > 0)
			while (waitpid(run.pids[i], NULL, 0) < 0 && errno == EINTR)
				;
}

/* Called in the parent only, at every end that is not a SIGKILL; in it by one thread only. */
static void end_tasks(void)
{
	static bool ending;

	if (__atomic_exchange_n(&ending, true, __ATOMIC_SEQ_CST))
		on_park(0);
	if (!run.threads)
		kill_processes();
	if (!run.test || !run.test->cleanup)
		return;
	if (run.threads)
		park_threads();
	run.test->cleanup();
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	/* In a task that is a process the parent cleans up; a thread takes the whole run with it. */
	if (getpid() == run.main_pid)
		end_tasks();
	_exit(1);
}

void die_errno(const char *what)
{
	die("%s: %m", what);
}

void die_code(int code, const char *what)
{
	errno = code;
	die_errno(what);
}

static void on_stop(int sig)
{
	stop_signal = sig;
}

static void handle_stop_signals(void (*handler)(int))
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa = { .sa_handler = handler };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &sa, NULL);
}

/* So that no task outlives its creator, whatever that dies of. */
static void die_with_parent(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void wait_for_go(void)
{
	struct pollfd p = { .fd = run.go[0], .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

static void task_run(unsigned nr)
{
	wait_for_go();
	run.test->run((volatile uint64_t *)(void *)(run.counters + nr * COUNTER_STRIDE), nr);
	die("task %u came to an end", nr);
}

static void *task_thread(void *arg)
{
	unsigned nr = (unsigned)(uintptr_t)arg;
	struct cpu_mask mask = topology_mask(&run.topo, nr, run.pin == PIN_PU);

	if (run.pin != PIN_NONE)
		cpu_mask_apply(&mask);
	task_run(nr);
	return NULL;
}

static void task_process(unsigned nr)
{
	pid_t pid = fork();

	if (pid < 0)
		die("task %u: fork: %m", nr);
	if (pid == 0) {
		handle_stop_signals(SIG_DFL);
		die_with_parent(run.main_pid);
		task_run(nr);
	}
	run.pids[nr] = pid;
}

/* Signals that stop the run are for the main thread: the loops of the tests do not look. */
static pthread_t thread_start(void *(*fn)(void *), void *arg)
{
	sigset_t stop, old;
	pthread_t id;
	int r;

	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTERM);
	(void)sigaddset(&stop, SIGINT);
	(void)sigaddset(&stop, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &stop, &old);
	r = pthread_create(&id, NULL, fn, arg);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 0)
		die_code(r, "pthread_create");
	return id;
}

/*
 * The parent goes to the place of each task before it makes it, so that the first memory of the
 * task is local there.
 */
static void tasks_start(void)
{
	for (unsigned i = 0; i < run.tasks; i++) {
		struct cpu_mask mask = topology_mask(&run.topo, i, run.pin == PIN_PU);

		if (run.pin != PIN_NONE)
			cpu_mask_apply(&mask);
		if (run.threads)
			run.ids[run.started++] = thread_start(task_thread, (void *)(uintptr_t)i);
		else
			task_process(i);
		if (run.pin != PIN_NONE)
			cpu_mask_apply(&run.topo.own);
	}
	must(write(run.go[1], "", 1) == 1, "start of the tasks");
}

struct helper {
	void (*fn)(void *);
	void *arg;
};

static void *helper_thread(void *arg)
{
	struct helper h = *(struct helper *)arg;

	free(arg);
	h.fn(h.arg);
	return NULL;
}

bool wis_threads(void)
{
	return run.threads;
}

void wis_helper(void (*fn)(void *), void *arg)
{
	pid_t self = getpid(), pid;
	struct helper *h;

	if (run.threads) {
		h = malloc(sizeof(*h));
		must(h, "helper");
		*h = (struct helper){ .fn = fn, .arg = arg };
		(void)thread_start(helper_thread, h);
		return;
	}
	pid = fork();
	must(pid >= 0, "fork of a helper");
	if (pid == 0) {
		die_with_parent(self);
		fn(arg);
		_exit(1);
	}
}

/* A frozen counter would look like a slow kernel: a dead task ends the run. */
static void check_tasks(void)
{
	int status;
	pid_t pid;

	if (run.threads)
		return;
	pid = waitpid(-1, &status, WNOHANG);
	if (pid <= 0)
		return;
	for (unsigned i = 0; i < run.tasks; i++) {
		if (run.pids[i] != pid)
			continue;
		run.pids[i] = 0;
		if (WIFSIGNALED(status))
			die("task %u was killed by signal %d", i, WTERMSIG(status));
		die("task %u ended with status %d", i, WEXITSTATUS(status));
	}
}

static void check_stop(void)
{
	int sig = stop_signal;

	if (sig == 0)
		return;
	say("stopped by signal %d", sig);
	end_tasks();
	handle_stop_signals(SIG_DFL);
	(void)raise(sig);
	_exit(128 + sig);
}

static void sleep_second(void)
{
	struct timespec left = { .tv_sec = 1 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		check_stop();
	check_stop();
}

/* One second, one line. Return: what all tasks did in it. */
static uint64_t sample(uint64_t *before)
{
	uint64_t min = UINT64_MAX, max = 0, total = 0, now[WIS_TASKS_MAX];

	sleep_second();
	check_tasks();
	for (unsigned i = 0; i < run.tasks; i++)
		now[i] = *(volatile uint64_t *)(void *)(run.counters + i * COUNTER_STRIDE);
	for (unsigned i = 0; i < run.tasks; i++) {
		uint64_t delta = now[i] - before[i];

		before[i] = now[i];
		min = delta < min ? delta : min;
		max = delta > max ? delta : max;
		total += delta;
		if (run.verbose)
			(void)printf("%4u -> %llu\n", i, (unsigned long long)delta);
	}
	(void)printf("min:%llu max:%llu total:%llu\n", (unsigned long long)min,
		     (unsigned long long)max, (unsigned long long)total);
	return total;
}

static void measure(void)
{
	static uint64_t before[WIS_TASKS_MAX];
	uint64_t sum = 0;

	(void)printf("testcase:%s\nwarmup\n", run.test->title);
	for (int i = 0; i < WARMUP_SAMPLES; i++)
		(void)sample(before);
	(void)printf("measurement\n");
	for (uint64_t i = 0; run.samples == 0 || i < run.samples; i++)
		sum += sample(before);
	(void)printf("average:%llu\n", (unsigned long long)(sum / run.samples));
}

static int usage(void)
{
	(void)printf("usage: %s [-t TASKS] [-s SAMPLES] [-m | -n] [-v]\n"
		     "  -t  parallel tasks, 1 to %d (default 1)\n"
		     "  -s  samples of one second after %d of warm-up; 0: for ever (default 0)\n"
		     "  -m  pin to hardware threads instead of cores\n"
		     "  -n  do not pin\n"
		     "  -v  a line for each task too\n"
		     "  --version  name and version of this suite\n",
		     bundled_name, WIS_TASKS_MAX, WARMUP_SAMPLES);
	return 1;
}

static bool parse_count(const char *s, uint64_t max, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno != 0 || v > max)
		return false;
	*ret = v;
	return true;
}

static int parse_options(int argc, char **argv)
{
	uint64_t tasks = 1;
	bool pu = false, none = false;
	int c;

	while ((c = getopt(argc, argv, "t:s:mnvh")) != -1) { /* NOLINT */
		if (c == 't' && parse_count(optarg, UINT32_MAX, &tasks) && tasks > 0)
			continue;
		if (c == 's' && parse_count(optarg, UINT32_MAX, &run.samples))
			continue;
		if (c == 'm' || c == 'n' || c == 'v') {
			pu |= c == 'm';
			none |= c == 'n';
			run.verbose |= c == 'v';
			continue;
		}
		return usage();
	}
	if (optind < argc || (pu && none))
		return usage();
	if (tasks > WIS_TASKS_MAX) {
		(void)printf("%s: at most %d tasks\n", bundled_name, WIS_TASKS_MAX);
		return 1;
	}
	run.tasks = (unsigned)tasks;
	run.pin = none ? PIN_NONE : pu ? PIN_PU : PIN_CORE;
	return 0;
}

int wis_main(const struct wis_test *t, bool threads, int argc, char **argv)
{
	int r = parse_options(argc, argv);

	if (r != 0)
		return r;
	run.threads = threads;
	run.main_pid = getpid();
	/* Through a pipe too: a killed run then shows how far it came. */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	topology_init(&run.topo);
	run.counters = mmap(NULL, WIS_TASKS_MAX * COUNTER_STRIDE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(run.counters != MAP_FAILED, "counters");
	must(pipe2(run.go, O_CLOEXEC) == 0, "pipe");
	handle_stop_signals(on_stop);
	run.test = t;
	if (t->setup)
		t->setup(run.tasks);
	tasks_start();
	measure();
	end_tasks();
	/* Threads end with the process: none of them can be left holding a lock that an exit needs. */
	(void)fflush(stdout);
	_exit(0);
}
