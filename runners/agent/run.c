/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/run.h"

#include "bot/base/err.h"
#include "runners/agent/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

/* struct stream - one output pipe of the commands of a run. */
struct stream {
	int fd;
	int number;
	uint64_t sent;
};

struct run {
	struct link *link;
	const struct run_env *env;
	const struct proto_job *job;
	struct proto_run_end end;
	struct stream streams[2];
	double deadline_s;
	struct rusage usage;
};

/* The agent is kept from the OOM killer; what it measures is not. */
static void oom_default(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "0", 1);
}

static void child_exec(const struct run *r, char **argv, int out, int err, int report)
{
	size_t n = 0;
	char **args;
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	(void)setpgid(0, 0);
	if (r->env->whole_machine)
		oom_default();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (r->env->no_thp)
		(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (!r->job->aslr)
		(void)personality(PER_LINUX | ADDR_NO_RANDOMIZE);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(127);
	while (argv[n])
		n++;
	if (n == 0)
		_exit(127);
	args = xcalloc(n + 2, sizeof(*args));
	args[0] = xstrdup(r->env->workloads);
	memcpy(args + 1, argv, n * sizeof(*args));
	if (strchr(argv[0], '/'))
		(void)execv(argv[0], argv);
	else
		(void)execv(args[0], args);
	n = (size_t)errno;
	(void)!write(report, &n, sizeof(n));
	_exit(127);
}

/* Starts a command; what stopped it from starting goes to @end->error. Return: pid, or -1. */
static pid_t command_start(struct run *r, char **argv)
{
	int out[2], err[2], report[2];
	size_t why = 0;
	pid_t pid;
	ssize_t n;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
	    pipe2(report, O_CLOEXEC) < 0) {
		r->end.error = xasprintf("could not make a pipe: %s", strerror(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		child_exec(r, argv, out[1], err[1], report[1]);
	(void)close(out[1]);
	(void)close(err[1]);
	(void)close(report[1]);
	do {
		n = pid < 0 ? 0 : read(report[0], &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	(void)close(report[0]);
	if (pid < 0)
		r->end.error = xasprintf("could not fork: %s", strerror(errno));
	else if (n == (ssize_t)sizeof(why))
		r->end.error = xasprintf("cannot execute '%s': %s",
					 strchr(argv[0], '/') ? argv[0] : r->env->workloads,
					 strerror((int)why));
	if (r->end.error) {
		(void)close(out[0]);
		(void)close(err[0]);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
		return -1;
	}
	(void)fcntl(out[0], F_SETFL, O_NONBLOCK);
	(void)fcntl(err[0], F_SETFL, O_NONBLOCK);
	r->streams[0].fd = out[0];
	r->streams[1].fd = err[0];
	return pid;
}

/*
 * Sends on what a pipe holds now, at most @reads pieces: a program that never stops writing must not
 * keep us from its deadline. Return: 0; ERR_IO when the driver is gone.
 */
static int stream_pump(struct run *r, struct stream *s, int reads, struct err *e)
{
	char buf[16384];
	ssize_t n;

	while (s->fd >= 0 && reads-- > 0) {
		uint64_t room = r->job->output_max_bytes - s->sent;
		int ret;

		n = read(s->fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			(void)close(s->fd);
			s->fd = -1;
			return 0;
		}
		/* Above the cap the pipe is still emptied, or the program would block for ever. */
		if ((uint64_t)n > room) {
			r->end.truncated = true;
			n = (ssize_t)room;
		}
		s->sent += (uint64_t)n;
		proto_output_add(&r->link->out_buf, s->number, buf, (size_t)n);
		ret = link_flush(r->link, e);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void usage_add(struct rusage *sum, const struct rusage *u)
{
	timeradd(&sum->ru_utime, &u->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &u->ru_stime, &sum->ru_stime);
	if (u->ru_maxrss > sum->ru_maxrss)
		sum->ru_maxrss = u->ru_maxrss;
	sum->ru_minflt += u->ru_minflt;
	sum->ru_majflt += u->ru_majflt;
	sum->ru_nvcsw += u->ru_nvcsw;
	sum->ru_nivcsw += u->ru_nivcsw;
}

static json_t *usage_json(const struct rusage *u)
{
	return json_pack("{sf sf sI sI sI sI sI}", "utime_s",
			 (double)u->ru_utime.tv_sec + (double)u->ru_utime.tv_usec / 1e6, "stime_s",
			 (double)u->ru_stime.tv_sec + (double)u->ru_stime.tv_usec / 1e6,
			 "maxrss_kib", (json_int_t)u->ru_maxrss, "minflt", (json_int_t)u->ru_minflt,
			 "majflt", (json_int_t)u->ru_majflt, "nvcsw", (json_int_t)u->ru_nvcsw,
			 "nivcsw", (json_int_t)u->ru_nivcsw);
}

/* Has the command ended? Then its status is in @r->end. */
static bool command_reap(struct run *r, pid_t pid)
{
	struct rusage u;
	int status;

	if (wait4(pid, &status, WNOHANG, &u) != pid)
		return false;
	usage_add(&r->usage, &u);
	r->end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	r->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

/*
 * SIGCHLD is blocked except inside ppoll(), so a child that ends is never missed; that needs neither
 * signalfd nor pidfd, which a small kernel may lack.
 */
static int command_wait(struct run *r, pid_t pid, struct err *e)
{
	sigset_t none;
	int ret;

	(void)sigemptyset(&none);
	while (!command_reap(r, pid)) {
		struct pollfd p[3] = {
			{ .fd = r->streams[0].fd, .events = POLLIN },
			{ .fd = r->streams[1].fd, .events = POLLIN },
			/* Input during a run can only be the end of the line: wake up for that. */
			{ .fd = r->link->in, .events = 0 },
		};
		double left = r->deadline_s - agent_now_s();
		struct timespec ts = { .tv_sec = 1 };

		if (left <= 0) {
			r->end.timed_out = true;
			(void)kill(-pid, SIGKILL);
			(void)kill(pid, SIGKILL);
			left = 0.01;
		}
		if (left < 1)
			ts = (struct timespec){ .tv_nsec = (long)(left * 1e9) + 1 };
		if (ppoll(p, 3, &ts, &none) < 0 && errno != EINTR)
			return err_errno(e, errno, "could not poll");
		if (p[2].revents & (POLLHUP | POLLERR | POLLNVAL))
			return err_set(e, ERR_IO, "the driver closed the line during a run");
		if ((ret = stream_pump(r, &r->streams[0], 16, e)) < 0 ||
		    (ret = stream_pump(r, &r->streams[1], 16, e)) < 0 ||
		    (ret = link_beat(r->link, e)) < 0)
			return ret;
	}
	return 0;
}

/* What the pipes still hold after all writers are dead. */
static int streams_finish(struct run *r, struct err *e)
{
	int ret = 0;

	for (int i = 0; i < 2; i++) {
		if (ret == 0)
			ret = stream_pump(r, &r->streams[i], 1024, e);
		closep(&r->streams[i].fd);
		r->streams[i].fd = -1;
	}
	return ret;
}

static int commands_run(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->job->ncommands; i++) {
		pid_t pid = command_start(r, r->job->commands[i].argv);
		int ret, ret2;

		if (pid < 0) {
			r->end.exit_status = -1;
			return 0;
		}
		ret = command_wait(r, pid, e);
		r->end.left_over += tree_kill(r->env->whole_machine);
		ret2 = streams_finish(r, e);
		if (ret < 0 || ret2 < 0)
			return ret < 0 ? ret : ret2;
		if (r->end.exit_status != 0 || r->end.timed_out)
			return 0;
	}
	return 0;
}

int run_once(struct link *l, const struct run_env *env, const struct proto_job *job, unsigned run,
	     struct err *e)
{
	double start_s = agent_now_s();
	struct run r = {
		.link = l,
		.env = env,
		.job = job,
		.end = { .run = run },
		.streams = { { .fd = -1, .number = PROTO_STDOUT },
			     { .fd = -1, .number = PROTO_STDERR } },
		.deadline_s = start_s + job->deadline_s,
	};
	int ret;

	ret = proto_run_start_add(&l->out_buf, run, e);
	if (ret == 0)
		ret = link_flush(l, e);
	if (ret == 0)
		ret = commands_run(&r, e);
	r.end.wall_s = agent_now_s() - start_s;
	r.end.rusage = usage_json(&r.usage);
	if (ret == 0)
		ret = proto_run_end_add(&l->out_buf, &r.end, e);
	if (ret == 0)
		ret = link_flush(l, e);
	proto_run_end_done(&r.end);
	return ret;
}
