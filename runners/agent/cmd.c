/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/cmd.h"

#include "bot/base/err.h"
#include "runners/agent/link.h"
#include "runners/agent/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* struct failure - what a child tells of its end before it is the program; 8 bytes go whole. */
struct failure {
	int step;
	int number;
};

static const char *const steps[] = {
	"execute",
	"switch address randomisation off for",
	"switch huge pages off for",
	"enter the working directory of",
	"set up the output of",
};

static void child_fail(int report, int step)
{
	struct failure f = { step, errno };

	(void)!write(report, &f, sizeof(f));
	_exit(127);
}

/* The agent is kept from the OOM killer; what it measures is not. */
static void oom_default(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "0", 1);
		(void)close(fd);
	}
}

static void raise_nofile(unsigned want)
{
	struct rlimit l;

	if (!want || getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= want)
		return;
	l.rlim_cur = want;
	if (l.rlim_max < want)
		l.rlim_max = want;
	if (setrlimit(RLIMIT_NOFILE, &l) == 0 || getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

/* "{i}" in @arg replaced. */
static char *numbered(const char *arg, unsigned number)
{
	struct strbuf b = STRBUF_INIT;
	const char *at;

	while ((at = strstr(arg, "{i}"))) {
		strbuf_add(&b, arg, (size_t)(at - arg));
		strbuf_addf(&b, "%u", number);
		arg = at + 3;
	}
	strbuf_addstr(&b, arg);
	return strbuf_take(&b);
}

static void signals_reset(void)
{
	sigset_t none;

	stop_reset();
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Kept and read back: what cannot be had is said before anything is measured. */
static void randomisation_set(bool aslr, int report)
{
	unsigned long was = (unsigned long)personality(0xffffffff);
	unsigned long want =
		aslr ? was & ~(unsigned long)ADDR_NO_RANDOMIZE : was | ADDR_NO_RANDOMIZE;

	if (personality(want) < 0 || (unsigned long)personality(0xffffffff) != want)
		child_fail(report, 1);
}

static void child_exec(const struct cmd *c, unsigned number, pid_t group, const int *gate,
		       int report)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	char **args;
	char byte;

	(void)setpgid(0, group);
	(void)close(gate[1]);
	if (c->oom_default)
		oom_default();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->no_thp && (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) < 0 ||
			  prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != 1))
		child_fail(report, 2);
	randomisation_set(c->aslr, report);
	raise_nofile(c->nofile);
	signals_reset();
	if (chdir(c->dir) < 0)
		child_fail(report, 3);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (dup2(c->out, STDOUT_FILENO) < 0 || dup2(c->err, STDERR_FILENO) < 0)
		child_fail(report, 4);
	for (char *const *v = c->env; v && *v; v++) {
		if (strchr(*v, '='))
			(void)putenv(*v);
	}
	while (c->argv[n])
		n++;
	args = xcalloc(n + 2, sizeof(*args));
	if (c->applet)
		args[0] = xstrdup(c->path);
	for (size_t i = 0; i < n; i++)
		args[i + c->applet] = numbered(c->argv[i], number);
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
	(void)execv(c->path, args);
	child_fail(report, 0);
}

static void kill_all(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		(void)kill(pids[i], SIGKILL);
	for (unsigned i = 0; i < n; i++) {
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static int fork_all(const struct cmd *c, unsigned copies, pid_t *pids, const int *gate, int report,
		    struct err *e)
{
	for (unsigned i = 0; i < copies; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			child_exec(c, i, i ? pids[0] : 0, gate, report);
		if (pids[i] < 0) {
			int r = err_errno(e, errno, "could not fork copy %u of '%.200s'", i,
					  c->argv[0]);

			kill_all(pids, i);
			return r;
		}
		/* From both sides: whoever comes first, the group is there when we kill it. */
		(void)setpgid(pids[i], pids[0]);
	}
	return 0;
}

int cmd_start(const struct cmd *c, unsigned copies, pid_t *pids, double *ret_start_s, struct err *e)
{
	struct failure f = { 0 };
	int gate[2], report[2];
	ssize_t n = 0;
	int r;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return err_errno(e, errno, "could not make a pipe");
	if (pipe2(report, O_CLOEXEC) < 0) {
		r = err_errno(e, errno, "could not make a pipe");
		(void)close(gate[0]);
		(void)close(gate[1]);
		return r;
	}
	r = fork_all(c, copies, pids, gate, report[1], e);
	(void)close(gate[0]);
	(void)close(report[1]);
	/* The last open end for writing: what the children wait for. */
	*ret_start_s = agent_now_s();
	(void)close(gate[1]);
	while (r == 0 && (n = read(report[0], &f, sizeof(f))) < 0 && errno == EINTR)
		;
	(void)close(report[0]);
	if (r == 0 && n == (ssize_t)sizeof(f)) {
		kill_all(pids, copies);
		return err_errno(e, f.number, "cannot %s '%.500s'",
				 steps[(size_t)f.step < ARRAY_SIZE(steps) ? f.step : 0], c->path);
	}
	return r;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void cmd_pids_sort(pid_t *pids, size_t n)
{
	qsort(pids, n, sizeof(*pids), compare_pids);
}

ssize_t cmd_pids_find(const pid_t *pids, size_t n, pid_t pid)
{
	const pid_t *at = n ? bsearch(&pid, pids, n, sizeof(*pids), compare_pids) : NULL;

	return at ? at - pids : -1;
}
