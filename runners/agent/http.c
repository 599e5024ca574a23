/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/http.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/agent/link.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define PIECE_MAX   ((size_t)256 << 10)
#define HOLD_MAX    ((size_t)8 << 20) /* while the server is away; then the agent has to wait */
#define CONNECT_S   10.0
#define EXCHANGE_S  30.0
#define GIVE_UP_S   600.0 /* without one answer */
#define BACKOFF_S   0.2
#define BACKOFF_MAX 5.0
#define SAY_S	    30.0 /* between two complaints on the console */
#define FAREWELL_S  10.0

/* Bytes wait this long for company: each request costs the machine time while it measures. */
#define GATHER_S      1.0
#define GATHER_BYTES  ((size_t)64 << 10)
#define GATHER_SOON_S 0.02

/* How often to ask for the job, at first and at most. With the job all is heard from the driver. */
#define ASK_S	  0.1
#define ASK_MAX_S 2.0

/*
 * @line: our end of the agent's line, -1 when it is closed. @out: its bytes that the server has not
 * said to have, from number @at on; since @out_since. @from: bytes from the driver so far.
 * @finished: the child has ended and all that it said is in @out.
 */
struct bridge {
	struct http_url url;
	pid_t child;
	bool child_gone, finished;
	int child_status;
	int line, sock;
	bool fresh; /* nothing was asked on @sock yet */
	struct strbuf out, in, answer;
	int64_t at, from;
	double out_since, asked_s, ask_every_s, answered_s, backoff_s, said_s;
};

static void complain(struct bridge *b, const struct err *e)
{
	double now = agent_now_s();

	if (now - b->said_s < SAY_S)
		return;
	b->said_s = now;
	(void)fprintf(stderr, "kperfbot-agent: http: %s, trying again\n", e->msg);
}

static void line_close(struct bridge *b)
{
	closep(&b->line);
	b->line = -1;
}

static void sock_close(struct bridge *b)
{
	closep(&b->sock);
	b->sock = -1;
}

/* Takes what the agent has written, as far as there is room. */
static void line_drain(struct bridge *b)
{
	char buf[65536];

	while (b->line >= 0 && b->out.len < HOLD_MAX) {
		ssize_t n = read(b->line, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			line_close(b);
			return;
		}
		if (!b->out.len)
			b->out_since = agent_now_s();
		strbuf_add(&b->out, buf, (size_t)n);
	}
}

/*
 * Waits for @fd (or for nothing with -1) until @end_s, and takes the agent's bytes meanwhile.
 * Return: 1 when @fd is ready, 0 when the agent wrote or its line was closed, -1 at the end.
 */
static int wait_for(struct bridge *b, int fd, short events, double end_s)
{
	bool room = b->line >= 0 && b->out.len < HOLD_MAX;
	struct pollfd p[2] = {
		{ .fd = fd, .events = events },
		{ .fd = room ? b->line : -1, .events = POLLIN },
	};
	/* A child that ends closes its line a moment before it can be reaped. */
	double most = b->line < 0 && !b->child_gone ? 0.02 : 5;
	double left = end_s - agent_now_s();

	if (left <= 0)
		return -1;
	if (poll(p, 2, (int)ceil((left < most ? left : most) * 1000)) <= 0)
		return 0;
	if (p[1].revents)
		line_drain(b);
	return fd >= 0 && p[0].revents ? 1 : 0;
}

static void child_look(struct bridge *b)
{
	int status;
	pid_t pid;

	/* Process 1 inherits orphans: they are reaped on the way. */
	while (!b->child_gone && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != b->child)
			continue;
		b->child_gone = true;
		b->child_status = status;
	}
}

/* The child has ended: what it left in the line, as far as there is room, and then its end. */
static void line_finish(struct bridge *b)
{
	_cleanup_(freep) char *text = NULL;

	line_drain(b);
	if (b->out.len >= HOLD_MAX)
		return;
	line_close(b);
	b->finished = true;
	if (!WIFSIGNALED(b->child_status))
		return;
	text = xasprintf("the agent died of signal %d", WTERMSIG(b->child_status));
	(void)fprintf(stderr, "kperfbot-agent: %s\n", text);
	(void)proto_fault_add(&b->out, "agent", text, NULL);
	(void)proto_frame_add(&b->out, PROTO_BYE, NULL, 0, NULL);
}

static int server_connect(struct bridge *b, struct err *e)
{
	double end_s = agent_now_s() + CONNECT_S;
	int on = 1, error = 0, r;
	socklen_t len = sizeof(error);

	b->sock = socket(b->url.addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (b->sock < 0)
		return err_errno(e, errno, "no socket");
	b->fresh = true;
	(void)setsockopt(b->sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(b->sock, (struct sockaddr *)&b->url.addr, b->url.addr_len) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return err_errno(e, errno, "could not reach %s", b->url.host);
	do {
		r = wait_for(b, b->sock, POLLOUT, end_s);
	} while (r == 0);
	if (r < 0)
		return err_set(e, ERR_TIMEOUT, "%s did not answer within %g s", b->url.host,
			       CONNECT_S);
	if (getsockopt(b->sock, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error)
		return err_errno(e, error ? error : errno, "could not reach %s", b->url.host);
	return 0;
}

/* Sends @len bytes of @head or, when that is NULL, of what waits in @b->out. */
static int server_send(struct bridge *b, const char *head, size_t len, double end_s, struct err *e)
{
	size_t pos = 0;

	while (pos < len) {
		/* @b->out may move while it grows. */
		const char *from = head ? head : b->out.s;
		ssize_t n = send(b->sock, from + pos, len - pos, MSG_NOSIGNAL);

		if (n >= 0)
			pos += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return err_errno(e, errno, "%s broke off", b->url.host);
		else if (wait_for(b, b->sock, POLLOUT, end_s) < 0)
			return err_set(e, ERR_TIMEOUT, "%s takes nothing", b->url.host);
	}
	return 0;
}

/* Reads until @b->answer holds a head and its body. */
static int server_receive(struct bridge *b, struct http_head *ret, double end_s, struct err *e)
{
	char buf[16384];
	int r = 0;

	strbuf_reset(&b->answer);
	for (;;) {
		ssize_t n = recv(b->sock, buf, sizeof(buf), 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (wait_for(b, b->sock, POLLIN, end_s) < 0)
				return err_set(e, ERR_TIMEOUT, "%s does not answer", b->url.host);
			continue;
		}
		if (n < 0)
			return err_errno(e, errno, "%s broke off", b->url.host);
		if (n == 0)
			return err_set(e, ERR_IO, "%s closed the connection in the answer",
				       b->url.host);
		strbuf_add(&b->answer, buf, (size_t)n);
		if (r == 0)
			r = http_head_parse(b->answer.s, b->answer.len, ret, e);
		if (r < 0)
			return r;
		if (r > 0 && b->answer.len >= ret->head_len + ret->body_len) {
			/* More than it said: where the next answer begins is anybody's guess. */
			ret->close |= b->answer.len > ret->head_len + ret->body_len;
			return 0;
		}
	}
}

static int exchange_once(struct bridge *b, size_t len, struct http_head *ret, struct err *e)
{
	_cleanup_(freep) char *head = NULL;
	double end_s = agent_now_s() + EXCHANGE_S;
	int r = 0;

	if (b->sock < 0)
		r = server_connect(b, e);
	if (r < 0)
		return r;
	head = xasprintf("POST %s?at=%lld&from=%lld HTTP/1.1\r\nHost: %s\r\n"
			 "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
			 b->url.path, (long long)b->at, (long long)b->from, b->url.host, len);
	r = server_send(b, head, strlen(head), end_s, e);
	if (r == 0)
		r = server_send(b, NULL, len, end_s, e);
	return r < 0 ? r : server_receive(b, ret, end_s, e);
}

static void out_drop(struct bridge *b, size_t n)
{
	memmove(b->out.s, b->out.s + n, b->out.len - n);
	strbuf_cut(&b->out, b->out.len - n);
	b->at += (int64_t)n;
	b->out_since = agent_now_s();
}

/* Return: 0; ERR_IO to try again; ERR_UNSUPPORTED when the server does not want us. */
static int answer_take(struct bridge *b, const struct http_head *h, size_t sent, struct err *e)
{
	int64_t ahead = h->received - b->at;

	if (h->status == 409 && ahead > 0 && ahead <= (int64_t)b->out.len) {
		out_drop(b, (size_t)ahead);
		return 0;
	}
	/* Some other server that is pleased with everything: our bytes are not with it. */
	if (h->status == 200 && h->received < 0)
		return err_set(e, ERR_IO, "the answer is not from a server of kperfbot");
	if (h->status == 200 && ahead == (int64_t)sent) {
		if (sent)
			out_drop(b, sent);
		if (h->body_len)
			strbuf_add(&b->in, b->answer.s + h->head_len, h->body_len);
		b->from += (int64_t)h->body_len;
		return 0;
	}
	if (h->status >= 500 || h->status == 408 || h->status == 429)
		return err_set(e, ERR_IO, "the server answers with status %d", h->status);
	return err_set(e, ERR_UNSUPPORTED,
		       "the server answers with status %d and %lld bytes received, we are at %lld",
		       h->status, (long long)h->received, (long long)b->at);
}

static int exchange(struct bridge *b, struct err *e)
{
	size_t len = b->out.len < PIECE_MAX ? b->out.len : PIECE_MAX;
	bool was_open = b->sock >= 0 && !b->fresh;
	struct http_head h = { 0 };
	int r;

	b->asked_s = agent_now_s();
	r = exchange_once(b, len, &h, e);
	/* The server closes a connection that was idle; that is seen only now. */
	if (r < 0 && was_open) {
		sock_close(b);
		r = exchange_once(b, len, &h, e);
	}
	b->fresh = false;
	if (r < 0 || h.close)
		sock_close(b);
	return r < 0 ? r : answer_take(b, &h, len, e);
}

/* Hands the driver's bytes to the agent, which reads them at once or is gone. */
static void line_give(struct bridge *b)
{
	double end_s = agent_now_s() + FAREWELL_S;
	size_t pos = 0;

	while (b->line >= 0 && pos < b->in.len) {
		ssize_t n = send(b->line, b->in.s + pos, b->in.len - pos, MSG_NOSIGNAL);

		if (n >= 0)
			pos += (size_t)n;
		else if (errno == EAGAIN && wait_for(b, b->line, POLLOUT, end_s) >= 0)
			continue;
		else if (errno != EINTR)
			break;
	}
	strbuf_reset(&b->in);
}

/* When the next request is due; now, when the agent has ended. */
static double next_due(const struct bridge *b)
{
	bool has_job = b->from > 0;

	if (b->child_gone || b->out.len >= GATHER_BYTES)
		return 0;
	if (b->out.len)
		return b->out_since + (has_job ? GATHER_S : GATHER_SOON_S);
	return has_job || !b->at ? INFINITY : b->asked_s + b->ask_every_s;
}

static void asked(struct bridge *b, int64_t from_before)
{
	b->answered_s = agent_now_s();
	b->backoff_s = BACKOFF_S;
	b->said_s = -SAY_S;
	b->ask_every_s = b->ask_every_s * 1.3 < ASK_MAX_S ? b->ask_every_s * 1.3 : ASK_MAX_S;
	if (b->from > from_before)
		line_give(b);
}

static void carry(struct bridge *b)
{
	while (!(b->finished && !b->out.len)) {
		int64_t from = b->from;
		struct err e = { 0 };
		double end_s;
		int r;

		child_look(b);
		if (b->child_gone && !b->finished)
			line_finish(b);
		if (b->finished && !b->out.len)
			break;
		if (next_due(b) > agent_now_s()) {
			end_s = next_due(b);
			(void)wait_for(b, -1, 0, isinf(end_s) ? agent_now_s() + 5 : end_s);
			continue;
		}
		r = exchange(b, &e);
		if (r == 0) {
			asked(b, from);
			continue;
		}
		if (r != ERR_UNSUPPORTED)
			complain(b, &e);
		if (r == ERR_UNSUPPORTED || agent_now_s() - b->answered_s > GIVE_UP_S) {
			(void)fprintf(stderr, "kperfbot-agent: http: giving up: %s\n", e.msg);
			return;
		}
		end_s = agent_now_s() + b->backoff_s;
		b->backoff_s = b->backoff_s * 2 < BACKOFF_MAX ? b->backoff_s * 2 : BACKOFF_MAX;
		while (wait_for(b, -1, 0, end_s) >= 0)
			child_look(b);
	}
}

/* A closed line tells the agent to kill what it started. */
static int end(struct bridge *b)
{
	double end_s = agent_now_s() + FAREWELL_S;

	line_close(b);
	while (!b->child_gone && wait_for(b, -1, 0, end_s) >= 0)
		child_look(b);
	if (!b->child_gone)
		(void)kill(b->child, SIGKILL);
	sock_close(b);
	strbuf_done(&b->out);
	strbuf_done(&b->in);
	strbuf_done(&b->answer);
	return b->child_gone && WIFEXITED(b->child_status) && !b->out.len
		       ? WEXITSTATUS(b->child_status)
		       : 1;
}

int http_serve(const char *url, const struct serve_opts *opts,
	       int (*serve_in)(const struct serve_opts *opts))
{
	struct bridge b = { .line = -1, .sock = -1, .backoff_s = BACKOFF_S, .ask_every_s = ASK_S };
	struct serve_opts own = *opts;
	struct err e = { 0 };
	int fd[2];

	if (http_url_parse(url, &b.url, &e) < 0) {
		(void)fprintf(stderr, "kperfbot-agent: http: %s\n", e.msg);
		return 1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		perror("kperfbot-agent: http: socketpair");
		return 1;
	}
	b.child = fork();
	if (b.child == 0) {
		(void)close(fd[0]);
		own.in = own.out = fd[1];
		_exit(serve_in(&own));
	}
	(void)close(fd[1]);
	b.line = fd[0];
	if (b.child < 0) {
		perror("kperfbot-agent: http: fork");
		line_close(&b);
		return 1;
	}
	(void)fcntl(b.line, F_SETFL, O_NONBLOCK);
	b.answered_s = b.asked_s = agent_now_s();
	b.said_s = -SAY_S;
	carry(&b);
	return end(&b);
}
