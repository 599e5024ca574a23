/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/ssh_remote.h"

#include "bot/base/child.h"
#include "bot/base/err.h"
#include "runners/drivers/console_match.h"
#include "runners/drivers/drivers.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#define CAPTURE_MAX 65536
#define CONNECT_S   10

/* A name that ssh cannot take for an option, a user or a command. */
static bool name_is_safe(const char *s, const char *also, size_t max)
{
	if (!s || !*s || strlen(s) > max || *s == '-')
		return false;
	for (; *s; s++) {
		if (!isalnum((unsigned char)*s) && !strchr(also, *s))
			return false;
	}
	return true;
}

/* ssh expands %, $ and ~ in paths and splits them at spaces that are not quoted. */
static int path_check(const char *what, const char *path, struct err *e)
{
	if (!path || !*path)
		return err_set(e, ERR_CONFIG, "no %s is given", what);
	if (*path != '/')
		return err_set(e, ERR_CONFIG, "%s '%.200s' has to start with '/'", what, path);
	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < ' ' || strchr("\"'\\%$~", *p))
			return err_set(e, ERR_CONFIG, "%s '%.200s' must not hold '%c'", what, path,
				       (unsigned char)*p < ' ' ? '?' : *p);
	}
	return 0;
}

static int readable_check(const char *what, const char *path, struct err *e)
{
	int r = path_check(what, path, e);

	if (r == 0 && access(path, R_OK) < 0)
		return err_errno(e, errno, "cannot read %s '%s'", what, path);
	return r;
}

int ssh_check(const struct lab_ssh *s, struct err *e)
{
	bool by_command = s->boot && !strcmp(s->boot, "command");
	int r;

	if (!name_is_safe(s->host, ".-_:", 253))
		return err_set(e, ERR_CONFIG, "host '%.80s' is no name or address",
			       s->host ? s->host : "");
	if (s->user && !name_is_safe(s->user, ".-_", 64))
		return err_set(e, ERR_CONFIG, "user '%.80s' is no user name", s->user);
	if (s->port < 0 || s->port > 65535)
		return err_set(e, ERR_CONFIG, "port %d has to be 1 to 65535", s->port);
	if (s->boot && !by_command && strcmp(s->boot, "kexec") != 0)
		return err_set(e, ERR_CONFIG, "boot '%.80s' has to be kexec or command", s->boot);
	if (by_command && (!s->boot_command || !*s->boot_command))
		return err_set(e, ERR_CONFIG, "boot is by a command, and there is none");
	r = s->dir ? path_check("dir", s->dir, e) : 0;
	if (r == 0 && s->initrd && *s->initrd)
		r = path_check("initrd", s->initrd, e);
	if (r == 0)
		r = readable_check("known-hosts file", s->known_hosts_file, e);
	if (r == 0)
		r = readable_check("key file", s->key_file, e);
	return r;
}

void ssh_quote_add(struct strbuf *b, const char *text)
{
	strbuf_addch(b, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addstr(b, "'\\''");
		else
			strbuf_addch(b, *text);
	}
	strbuf_addch(b, '\'');
}

static void add(struct ssh_args *a, const char *word)
{
	vec_push(&a->argv, xstrdup(word));
}

static void add_option(struct ssh_args *a, char *option)
{
	add(a, "-o");
	vec_push(&a->argv, option);
}

void ssh_args_make(struct ssh_args *a, const struct lab_ssh *s, const char *script, int connect_s)
{
	/*
	 * Nothing of the caller's own configuration, agent or other keys; nothing is learnt; no
	 * connection is shared with another run; nothing is forwarded.
	 */
	static const char *const fixed[] = {
		"BatchMode=yes",
		"StrictHostKeyChecking=yes",
		"GlobalKnownHostsFile=/dev/null",
		"UpdateHostKeys=no",
		"VerifyHostKeyDNS=no",
		"CheckHostIP=no",
		"IdentitiesOnly=yes",
		"IdentityAgent=none",
		"PreferredAuthentications=publickey",
		"ConnectionAttempts=1",
		"ServerAliveInterval=5",
		"ServerAliveCountMax=3",
		"ControlMaster=no",
		"ControlPath=none",
		"ClearAllForwardings=yes",
		"ForwardAgent=no",
		"ForwardX11=no",
		"PermitLocalCommand=no",
		"ProxyCommand=none",
		"CanonicalizeHostname=no",
		"EscapeChar=none",
		"RequestTTY=no",
		"LogLevel=INFO",
	};
	struct strbuf command = STRBUF_INIT;

	add(a, "ssh");
	add(a, "-F");
	add(a, "/dev/null");
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		add_option(a, xstrdup(fixed[i]));
	add_option(a, xasprintf("ConnectTimeout=%d", connect_s));
	add_option(a, xasprintf("UserKnownHostsFile=\"%s\"", s->known_hosts_file));
	add_option(a, xasprintf("IdentityFile=\"%s\"", s->key_file));
	add(a, "-p");
	vec_push(&a->argv, xasprintf("%d", s->port ? s->port : 22));
	add(a, "-l");
	add(a, s->user ? s->user : "root");
	add(a, "--");
	add(a, s->host);
	/* Whatever shell the user has there, it only has to understand single quotes. */
	strbuf_addstr(&command, "exec /bin/sh -c ");
	ssh_quote_add(&command, script);
	vec_push(&a->argv, strbuf_take(&command));
	vec_push(&a->argv, NULL);
}

void ssh_args_done(struct ssh_args *a)
{
	for (size_t i = 0; i < a->argv.len; i++)
		free(a->argv.items[i]);
	vec_done(&a->argv);
}

static const struct {
	const char *words;
	enum lab_class class;
	bool only_ssh; /* said by ssh itself, not by a command there */
} complaints[] = {
	{ "No space left on device", LAB_DISK, false },
	{ "Read-only file system", LAB_DISK, false },
	{ "Input/output error", LAB_DISK, false },
	{ "Disk quota exceeded", LAB_DISK, false },
	{ "Host key verification failed", LAB_SSH, true },
	{ "IDENTIFICATION HAS CHANGED", LAB_SSH, true },
	{ "Permission denied", LAB_SSH, true },
	{ "Too many authentication failures", LAB_SSH, true },
	{ "bad permissions", LAB_SSH, true },
	{ "Unable to negotiate", LAB_SSH, true },
	{ "Could not resolve hostname", LAB_NET, true },
	{ "Connection refused", LAB_NET, true },
	{ "No route to host", LAB_NET, true },
	{ "Network is unreachable", LAB_NET, true },
	{ "timed out", LAB_NET, true },
	{ "not responding", LAB_NET, true },
	{ "Connection reset", LAB_NET, true },
	{ "Connection closed", LAB_NET, true },
	{ "closed by remote host", LAB_NET, true },
	{ "Broken pipe", LAB_NET, true },
	{ "kex_exchange_identification", LAB_NET, true },
};

/* The line of @text that holds the byte at @at, printable. */
static char *line_at(const char *text, const char *at)
{
	struct strbuf clean = STRBUF_INIT;
	const char *start = at;

	while (start > text && start[-1] != '\n' && start[-1] != '\r')
		start--;
	console_line_clean(start, strcspn(start, "\r\n"), &clean);
	strbuf_cut(&clean, 300);
	return strbuf_take(&clean);
}

/* The last line that is not empty. */
static char *line_last(const char *text)
{
	const char *p = text + strlen(text);

	while (p > text && isspace((unsigned char)p[-1]))
		p--;
	return p > text ? line_at(text, p - 1) : xstrdup("");
}

enum lab_class ssh_failure_class(int status, const char *said, char **ret_line)
{
	for (size_t i = 0; i < ARRAY_SIZE(complaints); i++) {
		const char *at = strstr(said, complaints[i].words);

		if (!at || (complaints[i].only_ssh && status != 255))
			continue;
		*ret_line = line_at(said, at);
		return complaints[i].class;
	}
	*ret_line = line_last(said);
	return LAB_SSH;
}

struct lines {
	int out, said;
};

/* Return: is the line still open? */
static bool capture(int *fd, struct strbuf *b)
{
	char buf[8192];

	/* Not to the end: who floods must not keep us from looking at the time. */
	for (int i = 0; i < 64 && *fd >= 0; i++) {
		long n = driver_read(*fd, buf, sizeof(buf));

		if (n == 0)
			break;
		if (n < 0) {
			closep(fd);
			*fd = -1;
		} else if (b->len < CAPTURE_MAX) {
			size_t room = CAPTURE_MAX - b->len;

			strbuf_add(b, buf, (size_t)n < room ? (size_t)n : room);
		}
	}
	return *fd >= 0;
}

/* Until both lines are closed, which a command that goes on in the background can prevent. */
static void call_watch(const struct ssh_call *c, struct lines *l, pid_t pid, bool *reaped,
		       int *status, struct ssh_answer *ret)
{
	double end_s = driver_now_s() + c->deadline_s;
	bool open = true;

	while (open && !*reaped) {
		struct pollfd p[2] = { { .fd = l->out, .events = POLLIN },
				       { .fd = l->said, .events = POLLIN } };

		(void)poll(p, 2, 250);
		open = capture(&l->out, &ret->out);
		open |= capture(&l->said, &ret->said);
		if (waitpid(pid, status, WNOHANG) == pid) {
			*reaped = true;
			(void)capture(&l->out, &ret->out);
			(void)capture(&l->said, &ret->said);
		} else if (driver_now_s() >= end_s) {
			ret->end = SSH_LATE;
			break;
		} else if (c->tick && c->tick(c->arg)) {
			ret->end = SSH_STOPPED;
			break;
		}
	}
}

int ssh_call(const struct ssh_call *c, struct ssh_answer *ret, struct err *e)
{
	_cleanup_(ssh_args_done) struct ssh_args args = { 0 };
	_cleanup_(closep) int out = -1;
	_cleanup_(closep) int said = -1;
	struct lines l = { -1, -1 };
	struct child_opts opts = CHILD_OPTS_INIT;
	bool reaped = false;
	int status = 0, r;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	r = driver_pair(&l.out, &out, e);
	if (r == 0)
		r = driver_pair(&l.said, &said, e);
	if (r == 0) {
		ssh_args_make(&args, c->ssh, c->script, c->connect_s ? c->connect_s : CONNECT_S);
		opts.argv = (const char *const *)args.argv.items;
		opts.stdin_fd = c->stdin_fd;
		opts.stdout_fd = out;
		opts.stderr_fd = said;
		r = child_spawn(&opts, &pid, e);
	}
	closep(&out);
	closep(&said);
	out = said = -1;
	if (r == 0) {
		call_watch(c, &l, pid, &reaped, &status, ret);
		if (!reaped && ret->end == SSH_EXITED) {
			/* Both lines are closed, so it is about to end. */
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		} else if (!reaped) {
			status = child_kill_group(pid);
		}
		ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	closep(&l.out);
	closep(&l.said);
	return r;
}

void ssh_answer_done(struct ssh_answer *a)
{
	strbuf_done(&a->out);
	strbuf_done(&a->said);
}

char *ssh_answer_word(const struct ssh_answer *a, const char *key)
{
	const char *p = strbuf_str(&a->out);
	size_t n = strlen(key);

	while (*p) {
		size_t len = strcspn(p, "\n");

		if (len > n && !strncmp(p, key, n) && p[n] == ' ') {
			struct strbuf clean = STRBUF_INIT;

			console_line_clean(p + n + 1, len - n - 1, &clean);
			return strbuf_take(&clean);
		}
		p += len + (p[len] == '\n');
	}
	return NULL;
}
