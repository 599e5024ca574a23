/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/helper.h"

#include "bot/base/err.h"
#include "runners/agent/programs.h"
#include "runners/agent/record.h"
#include "runners/agent/stop.h"
#include "runners/agent/workdir.h"
#include "runners/monitors/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* How long one may take to end after SIGINT, and perf to print what it has recorded. */
#define END_S	 5.0
#define SCRIPT_S 120.0
#define STUCK_S	 5.0

/* More of a profile than this on a disk helps nobody; in a memory file system it would hurt. */
#define DATA_MAX ((rlim_t)1 << 30)

#define SCRIPT_FIELDS "comm,pid,tid,time,period,event,ip,sym,dso"

static void note(struct helpers *h, const struct helper *m, const char *text)
{
	(void)json_object_set_new(h->notes, m->name, json_string(text));
}

void helpers_init(struct helpers *h, const struct proto_job *job, struct sink *sink, json_t *notes)
{
	*h = (struct helpers){ .sink = sink, .notes = notes };
	for (char **name = job->monitors; name && *name && h->n < HELPERS_MAX; name++) {
		const struct record_row *row = record_find(*name);
		struct helper m = { .pid = -1, .fd = -1 };
		bool again = false;

		for (size_t i = 0; i < h->n; i++)
			again |= !strcmp(h->list[i].name, *name);
		if (!row || row->how != RECORD_PROGRAM || again)
			continue;
		m.name = row->name;
		m.path = programs_search(job, strncmp(*name, "perf-", 5) ? *name : "perf");
		h->list[h->n++] = m;
	}
}

static void child_exec(const char *path, char *const *argv, int out, int err)
{
	const struct rlimit limit = { DATA_MAX, DATA_MAX };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	/* Not in the group of the terminal, if there is one: who ends it is us. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	stop_reset();
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(out >= 0 ? out : null, STDOUT_FILENO);
	(void)dup2(err >= 0 ? err : null, STDERR_FILENO);
	/* Numbers with a decimal point, and no pager. */
	(void)setenv("LC_ALL", "C", 1);
	(void)setenv("PAGER", "cat", 1);
	(void)execv(path, argv);
	_exit(127);
}

/* @both: what it prints as errors belongs to it. */
static bool start(struct helper *m, char *const *argv, bool both)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return false;
	m->pid = fork();
	if (m->pid == 0)
		child_exec(m->path, argv, fd[1], both ? fd[1] : -1);
	(void)close(fd[1]);
	if (m->pid < 0) {
		(void)close(fd[0]);
		return false;
	}
	(void)fcntl(fd[0], F_SETFL, O_NONBLOCK);
	m->fd = fd[0];
	m->ended = false;
	m->last_len = 0;
	return true;
}

static void open_stream(struct helpers *h, struct helper *m)
{
	_cleanup_(freep) char *name = xasprintf("monitor/%s", m->name);
	_cleanup_(freep) char *line = xasprintf("#program %s\n", m->name);

	m->stream = sink_open(h->sink, name);
	m->sent = strlen(line);
	sink_put(h->sink, m->stream, line, strlen(line));
}

/* argv[] of exec() is not const, and never written to. */
#define ARG(s) ((char *)(uintptr_t)(s))

static bool start_named(struct helper *m)
{
	char *stat[] = { ARG("perf"), ARG("stat"), ARG("-a"), ARG("-x,"),
			 ARG("-I"),   ARG("1000"), NULL };
	char *turbo[] = { ARG("turbostat"), ARG("--quiet"), ARG("--interval"), ARG("1"), NULL };
	char *record[] = { ARG("perf"), ARG("record"), ARG("-a"), ARG("-g"), ARG("-F"),
			   ARG("99"),	ARG("-o"),     NULL,	  NULL };

	if (!strcmp(m->name, "perf-stat"))
		return start(m, stat, true);
	if (!strcmp(m->name, "turbostat"))
		return start(m, turbo, true);
	m->dir = workdir_make("kperfbot-monitor", NULL);
	if (!m->dir)
		return false;
	m->data = xasprintf("%s/perf.data", m->dir);
	record[7] = m->data;
	return start(m, record, true);
}

void helpers_start(struct helpers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct helper *m = &h->list[i];

		if (!m->path) {
			note(h, m, "the program is not on this machine");
			continue;
		}
		m->kept = strcmp(m->name, "perf-profile") != 0;
		if (!start_named(m)) {
			note(h, m, "the program could not be started");
			continue;
		}
		note(h, m, "ok");
		if (m->kept)
			open_stream(h, m);
	}
}

/* Keeps the last line that is not empty, as printable ASCII. */
static void last_line(struct helper *m, const char *buf, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (buf[i] == '\n') {
			m->last_ended = true;
			continue;
		}
		if (m->last_ended)
			m->last_len = 0;
		m->last_ended = false;
		if (m->last_len < sizeof(m->last) - 1)
			m->last[m->last_len++] =
				(char)(buf[i] < ' ' || buf[i] > '~' ? '?' : buf[i]);
		m->last[m->last_len] = '\0';
	}
}

/* One piece of what it printed. Return: was there one? */
static bool pump(struct helpers *h, struct helper *m)
{
	char buf[16384];
	ssize_t n;

	do {
		n = read(m->fd, buf, sizeof(buf));
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		closep(&m->fd);
		m->fd = -1;
		return false;
	}
	last_line(m, buf, (size_t)n);
	if (m->fold)
		profile_fold_feed(m->fold, buf, (size_t)n);
	if (!m->kept)
		return true;
	if ((uint64_t)n > RECORD_MAX_BYTES - m->sent) {
		n = (ssize_t)(RECORD_MAX_BYTES - m->sent);
		note(h, m, "cut at 64 MiB");
	}
	sink_put(h->sink, m->stream, buf, (size_t)n);
	m->sent += (uint64_t)n;
	(void)sink_flush(h->sink);
	return true;
}

bool helpers_pump(struct helpers *h, int fd)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->list[i].fd == fd && fd >= 0) {
			(void)pump(h, &h->list[i]);
			return true;
		}
	}
	return false;
}

bool helpers_reaped(struct helpers *h, pid_t pid, int status)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->list[i].pid != pid)
			continue;
		h->list[i].status = status;
		h->list[i].ended = true;
		h->list[i].pid = -1;
		return true;
	}
	return false;
}

/* Takes what it prints until it has ended or @limit_s are over; then it is killed. */
static void wait_end(struct helpers *h, struct helper *m, double limit_s)
{
	double end_s = agent_now_s() + limit_s;
	bool killed = false;

	while (m->pid > 0 || m->fd >= 0) {
		struct pollfd p = { .fd = m->fd, .events = POLLIN };
		int status;

		(void)poll(&p, 1, 20);
		for (int i = 0; i < 64 && m->fd >= 0 && pump(h, m); i++)
			;
		if (m->pid > 0 && waitpid(m->pid, &status, WNOHANG) == m->pid)
			(void)helpers_reaped(h, m->pid, status);
		/* A child of its own may hold the pipe: what is there now is all. */
		if (m->pid < 0 && m->fd >= 0 && !pump(h, m)) {
			closep(&m->fd);
			m->fd = -1;
		}
		(void)sink_beat(h->sink);
		if (!killed && m->pid > 0 &&
		    (agent_now_s() > end_s || h->sink->ret < 0 || m->sent >= RECORD_MAX_BYTES)) {
			(void)kill(-m->pid, SIGKILL);
			(void)kill(m->pid, SIGKILL);
			killed = true;
			end_s = agent_now_s();
		}
		/* Stuck in the kernel: it is left to whoever ends what is left of the run. */
		if (killed && m->pid > 0 && agent_now_s() > end_s + STUCK_S) {
			m->status = SIGKILL;
			m->pid = -1;
		}
	}
}

static bool ended_well(const struct helper *m)
{
	return (WIFEXITED(m->status) && WEXITSTATUS(m->status) == 0) ||
	       (WIFSIGNALED(m->status) && WTERMSIG(m->status) == SIGINT);
}

/* What it left of a run that it did not see to the end. */
static void say_why(struct helpers *h, const struct helper *m)
{
	_cleanup_(freep) char *text = NULL;

	if (WIFSIGNALED(m->status))
		text = xasprintf("cut short, the program died of signal %d: %s",
				 WTERMSIG(m->status), m->last);
	else
		text = xasprintf("cut short, the program ended with status %d: %s",
				 WEXITSTATUS(m->status), m->last);
	note(h, m, text);
}

static void profile_send(struct helpers *h, struct helper *m)
{
	char *script[] = { ARG("perf"), ARG("script"), ARG("-F"), ARG(SCRIPT_FIELDS),
			   ARG("-i"),	m->data,       NULL };
	struct strbuf text = STRBUF_INIT;

	m->fold = profile_fold_new();
	if (start(m, script, false)) {
		wait_end(h, m, SCRIPT_S);
		if (!ended_well(m))
			say_why(h, m);
		profile_fold_text(m->fold, &text);
		m->stream = sink_open(h->sink, "monitor/perf-profile");
		sink_put(h->sink, m->stream, strbuf_str(&text), text.len);
	} else {
		note(h, m, "perf script could not be started");
	}
	profile_fold_free(m->fold);
	m->fold = NULL;
	strbuf_done(&text);
}

static void stop_one(struct helpers *h, struct helper *m)
{
	bool early = m->ended;

	if (m->pid < 0 && m->fd < 0 && !early)
		return;
	if (m->pid > 0)
		(void)kill(m->pid, SIGINT);
	wait_end(h, m, END_S);
	/* One that had ended before it was told to has missed something, whatever it says. */
	if (early || !ended_well(m)) {
		say_why(h, m);
		return;
	}
	if (!m->kept && h->sink->ret == 0)
		profile_send(h, m);
}

void helpers_stop(struct helpers *h)
{
	for (size_t i = 0; i < h->n; i++)
		stop_one(h, &h->list[i]);
}

void helpers_done(struct helpers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct helper *m = &h->list[i];

		if (m->dir)
			(void)workdir_remove(m->dir, NULL);
		closep(&m->fd);
		free(m->path);
		free(m->dir);
		free(m->data);
	}
	*h = (struct helpers){ 0 };
}
