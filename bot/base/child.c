/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"

#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int place_fd(int fd, int target)
{
	if (fd == target)
		return fcntl(fd, F_SETFD, 0);
	return dup2(fd, target);
}

static int limit(int what, unsigned long value)
{
	struct rlimit rl = { value, value };

	return value ? setrlimit(what, &rl) : 0;
}

/* Runs in the child, only async-signal-safe calls. Returns on failure, errno set. */
static void child_setup(const struct child_opts *o, pid_t parent, const int fds[3])
{
	sigset_t none;

	if (!o->keep_group && setpgid(0, 0) < 0)
		return;
	(void)sigemptyset(&none);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread after fork */
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < 32; sig++)
		(void)signal(sig, SIG_DFL);
	for (int i = 0; i < 3; i++)
		if (place_fd(fds[i], i) < 0)
			return;
	/* Also what we were given ourselves when we were started. */
	(void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	for (size_t i = 0; i < o->pass_fds_n; i++)
		if (fcntl(o->pass_fds[i], F_SETFD, 0) < 0)
			return;
	if (o->cwd && chdir(o->cwd) < 0)
		return;
	if (o->set_ids && (setgroups(0, NULL) < 0 || setresgid(o->gid, o->gid, o->gid) < 0 ||
			   setresuid(o->uid, o->uid, o->uid) < 0))
		return;
	/* After the change of user, which clears it. */
	if (!o->outlive && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
		return;
	if (limit(RLIMIT_CPU, o->limit_cpu_s) < 0 || limit(RLIMIT_FSIZE, o->limit_file_bytes) < 0)
		return;
	if (o->env)
		(void)execvpe(o->argv[0], (char *const *)(uintptr_t)o->argv,
			      (char *const *)(uintptr_t)o->env);
	else
		(void)execvp(o->argv[0], (char *const *)(uintptr_t)o->argv);
}

int child_spawn(const struct child_opts *opts, pid_t *ret_pid, struct err *e)
{
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_(closep) int report_r = -1;
	_cleanup_(closep) int report_w = -1;
	int given[3] = { opts->stdin_fd, opts->stdout_fd, opts->stderr_fd };
	int fds[3] = { -1, -1, -1 };
	int child_errno = 0;
	pid_t parent = getpid();
	int p[2];
	pid_t pid;

	if (null < 0 || pipe2(p, O_CLOEXEC) < 0)
		return err_errno(e, errno, "could not start '%s'", opts->argv[0]);
	report_r = p[0];
	/* All above 2, so that placing one does not overwrite another. */
	report_w = fcntl(p[1], F_DUPFD_CLOEXEC, 3);
	(void)close(p[1]);
	if (report_w < 0)
		return err_errno(e, errno, "could not start '%s'", opts->argv[0]);
	for (int i = 0; i < 3; i++)
		fds[i] = fcntl(given[i] < 0 ? null : given[i], F_DUPFD_CLOEXEC, 3);
	pid = fork();
	if (pid == 0) {
		child_setup(opts, parent, fds);
		child_errno = errno ? errno : ESRCH;
		(void)!write(report_w, &child_errno, sizeof(child_errno));
		_exit(127);
	}
	for (int i = 0; i < 3; i++)
		closep(&fds[i]);
	if (pid < 0)
		return err_errno(e, errno, "could not start '%s'", opts->argv[0]);
	if (!opts->keep_group)
		(void)setpgid(pid, pid);
	(void)close(take_fd(report_w));
	while (read(report_r, &child_errno, sizeof(child_errno)) < 0 && errno == EINTR)
		;
	if (child_errno) {
		(void)waitpid(pid, NULL, 0);
		return err_errno(e, child_errno, "could not start '%s'", opts->argv[0]);
	}
	*ret_pid = pid;
	return 0;
}

int child_kill_group(pid_t pid)
{
	int status = 0;

	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	/* Members that forked while the signal was on its way. */
	(void)kill(-pid, SIGKILL);
	return status;
}

/* Keeps the first half and the last half of @max bytes. */
struct capture {
	struct strbuf head, tail;
	size_t max, total;
};

static void capture_add(struct capture *c, const char *data, size_t len)
{
	size_t half = c->max / 2;
	size_t room = c->head.len < half ? half - c->head.len : 0;
	size_t now = len < room ? len : room;

	c->total += len;
	strbuf_add(&c->head, data, now);
	strbuf_add(&c->tail, data + now, len - now);
	if (c->tail.len > 2 * half) {
		memmove(c->tail.s, c->tail.s + c->tail.len - half, half);
		c->tail.len = half;
	}
}

static char *capture_take(struct capture *c, size_t *ret_len)
{
	size_t half = c->max / 2;
	size_t skip = c->tail.len > half ? c->tail.len - half : 0;
	size_t lost = c->total - c->head.len - c->tail.len + skip;

	if (lost)
		strbuf_addf(&c->head, "\n[… %zu bytes left out …]\n", lost);
	strbuf_add(&c->head, c->tail.s ? c->tail.s + skip : "", c->tail.len - skip);
	strbuf_done(&c->tail);
	*ret_len = c->head.len;
	return strbuf_take(&c->head);
}

struct running {
	pid_t pid;
	int pidfd;
	int fd[2];
	struct capture cap[2];
	usec_t start, last_output;
};

/* Milliseconds until the nearer of two limits; sets @end to the one that would pass. */
static int next_deadline(const struct child_run_opts *o, const struct running *run,
			 enum child_end *end)
{
	usec_t now = clock_boottime();
	double left = 3600;

	*end = CHILD_EXITED;
	if (o->total_s > 0) {
		left = o->total_s - (double)(now - run->start) / 1e6;
		*end = CHILD_TIMEOUT;
	}
	if (o->idle_s > 0) {
		double idle = o->idle_s - (double)(now - run->last_output) / 1e6;

		if (idle < left || *end == CHILD_EXITED) {
			left = idle;
			*end = CHILD_IDLE;
		}
	}
	return left <= 0 ? 0 : (int)(fmin(left, 3600) * 1000) + 1;
}

static bool drain(const struct child_run_opts *o, struct running *run, int i)
{
	char buf[65536];
	ssize_t n = read(run->fd[i], buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	run->last_output = clock_boottime();
	capture_add(&run->cap[i], buf, (size_t)n);
	if (i == 0 && o->on_output)
		o->on_output(o->arg, buf, (size_t)n);
	return true;
}

/* Until the child has ended; grandchildren that keep the pipe open do not hold us up. */
static enum child_end wait_loop(const struct child_run_opts *o, struct running *run)
{
	struct pollfd p[3] = { { run->fd[0], POLLIN, 0 },
			       { run->fd[1], POLLIN, 0 },
			       { run->pidfd, POLLIN, 0 } };

	for (;;) {
		enum child_end end;
		int ms = next_deadline(o, run, &end);
		int n;

		if (ms == 0)
			return end;
		n = poll(p, 3, ms);
		if (n < 0 && errno != EINTR)
			return CHILD_TIMEOUT;
		if (n <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (p[i].fd >= 0 && p[i].revents && !drain(o, run, i))
				p[i].fd = -1;
		if (o->kill_over_output &&
		    run->cap[0].total + run->cap[1].total > o->kill_over_output)
			return CHILD_FLOOD;
		if (p[2].revents) {
			for (int i = 0; i < 2; i++)
				for (int k = 0; k < 1024 && p[i].fd >= 0; k++) {
					struct pollfd q = { p[i].fd, POLLIN, 0 };

					if (poll(&q, 1, 0) <= 0 || !drain(o, run, i))
						break;
				}
			return CHILD_EXITED;
		}
	}
}

int child_run(const struct child_run_opts *opts, struct child_result *ret, struct err *e)
{
	struct child_opts spawn = opts->spawn;
	size_t max = opts->max_output ? opts->max_output : 1 << 20;
	struct running run = { .fd = { -1, -1 }, .cap = { { .max = max }, { .max = max } } };
	int out[2] = { -1, -1 };
	int err[2] = { -1, -1 };
	enum child_end end;
	size_t err_len;
	int status;
	int r;

	if (pipe2(out, O_CLOEXEC) < 0 || (opts->split_stderr && pipe2(err, O_CLOEXEC) < 0)) {
		r = err_errno(e, errno, "could not start '%s'", spawn.argv[0]);
		goto out;
	}
	spawn.stdout_fd = out[1];
	spawn.stderr_fd = opts->split_stderr ? err[1] : out[1];
	r = child_spawn(&spawn, &run.pid, e);
	if (r < 0)
		goto out;
	(void)close(take_fd(out[1]));
	closep(&err[1]);
	err[1] = -1;
	run.fd[0] = out[0];
	run.fd[1] = err[0];
	run.start = run.last_output = clock_boottime();
	run.pidfd = (int)syscall(SYS_pidfd_open, run.pid, 0);
	if (run.pidfd < 0) {
		r = err_errno(e, errno, "could not watch '%s'", spawn.argv[0]);
		(void)child_kill_group(run.pid);
		goto out;
	}
	end = wait_loop(opts, &run);
	closep(&run.pidfd);
	/* Its status, when it has ended, is not changed by the signal; the group is still its own. */
	status = child_kill_group(run.pid);
	*ret = (struct child_result){ .end = end,
				      .took_s = (double)(clock_boottime() - run.start) / 1e6 };
	ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	if (end == CHILD_EXITED && WIFSIGNALED(status))
		ret->end = CHILD_SIGNALLED;
	ret->out_total = run.cap[0].total;
	ret->out = capture_take(&run.cap[0], &ret->out_len);
	ret->err = capture_take(&run.cap[1], &err_len);
	r = 0;
out:
	for (int i = 0; i < 2; i++) {
		closep(&out[i]);
		closep(&err[i]);
		strbuf_done(&run.cap[i].head);
		strbuf_done(&run.cap[i].tail);
	}
	return r;
}

void child_result_done(struct child_result *r)
{
	free(r->out);
	free(r->err);
	*r = (struct child_result){ 0 };
}

const char *child_end_text(const struct child_result *r, char buf[64])
{
	switch (r->end) {
	case CHILD_EXITED:
		(void)snprintf(buf, 64, "exit status %d", r->status);
		break;
	case CHILD_SIGNALLED:
		(void)snprintf(buf, 64, "killed by signal %d", r->status);
		break;
	case CHILD_TIMEOUT:
		(void)snprintf(buf, 64, "not done after %.0f s", r->took_s);
		break;
	case CHILD_IDLE:
		(void)snprintf(buf, 64, "silent for too long, killed after %.0f s", r->took_s);
		break;
	case CHILD_FLOOD:
		(void)snprintf(buf, 64, "too much output");
		break;
	}
	return buf;
}
