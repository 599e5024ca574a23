/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/lab/agent_talk.h"

#include "bot/base/child.h"
#include "bot/base/err.h"
#include "tests/test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void take_output(struct talk *t, const struct proto_frame *f)
{
	const unsigned char *data;
	size_t len, i;
	int stream;

	assert_int_equal(proto_output_parse(f, &stream, &data, &len, NULL), 0);
	if (stream == PROTO_STDOUT) {
		strbuf_add(&t->out, data, len);
		return;
	}
	if (stream == PROTO_STDERR) {
		strbuf_add(&t->err, data, len);
		return;
	}
	for (i = 0; i < t->nfiles && t->streams[i] != (unsigned)stream; i++)
		;
	assert_true(i < t->nfiles);
	strbuf_add(&t->files[i], data, len);
}

static void take_stream(struct talk *t, const struct proto_frame *f)
{
	struct proto_stream s = { 0 };

	assert_true(t->nfiles < TALK_FILES_MAX);
	assert_int_equal(proto_stream_parse(f, &s, NULL), 0);
	t->streams[t->nfiles] = s.stream;
	t->names[t->nfiles++] = s.name;
}

static void take(struct talk *t, const struct proto_frame *f)
{
	struct proto_fault fault = { 0 };
	struct err e = { 0 };
	unsigned run;

	switch (f->type) {
	case PROTO_HELLO:
		assert_ok(proto_hello_parse(f, &t->hello, &e), &e);
		break;
	case PROTO_READY:
		assert_ok(proto_ready_parse(f, &t->ready, &e), &e);
		break;
	case PROTO_RUN_START:
		assert_ok(proto_run_start_parse(f, &run, &e), &e);
		assert_int_equal(run, t->nruns++);
		/* Numbers of streams belong to a run. */
		memset(t->streams, 0, sizeof(t->streams));
		break;
	case PROTO_OUTPUT:
		take_output(t, f);
		break;
	case PROTO_STREAM:
		take_stream(t, f);
		break;
	case PROTO_RUN_END:
		assert_true(t->nended < TALK_RUNS_MAX);
		assert_ok(proto_run_end_parse(f, &t->ends[t->nended], &e), &e);
		t->nended++;
		break;
	case PROTO_FAULT:
		assert_ok(proto_fault_parse(f, &fault, &e), &e);
		if (t->fault_stage) {
			proto_fault_done(&fault);
			break;
		}
		t->fault_stage = fault.stage;
		t->fault_text = fault.text;
		break;
	case PROTO_BYE:
		t->bye = true;
		break;
	default:
		assert_int_equal(f->type, PROTO_BEAT);
	}
}

/* The next message. Return: false at the end of the line. */
static bool next(struct talk *t)
{
	struct proto_frame f;
	char buf[65536];
	int r;

	while ((r = proto_decoder_next(&t->decoder, &f, NULL)) == 0) {
		ssize_t n = read(t->fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		proto_decoder_add(&t->decoder, buf, (size_t)n);
	}
	assert_int_equal(r, 1);
	take(t, &f);
	return true;
}

void talk_start(struct talk *t)
{
	const char *argv[] = {
		AGENT,	       "--stdio",
		"--workloads", TEST_SOURCE_DIR "/tests/integration/lab/fake_workloads.sh",
		"--nonce",     "n-1",
		NULL
	};
	struct child_opts opts = CHILD_OPTS_INIT;
	struct err e = { 0 };
	int fd[2];

	memset(t, 0, sizeof(*t));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	opts.argv = argv;
	opts.stdin_fd = opts.stdout_fd = fd[1];
	opts.stderr_fd = STDERR_FILENO;
	assert_ok(child_spawn(&opts, &t->pid, &e), &e);
	(void)close(fd[1]);
	t->fd = fd[0];
	assert_true(next(t));
	assert_int_equal(t->hello.version, PROTO_VERSION);
}

void talk_send(struct talk *t, const struct proto_job *job)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(proto_job_add(&b, job, &e), &e);
	assert_int_equal(write(t->fd, b.s, b.len), b.len);
}

void talk_until_out(struct talk *t, const char *text)
{
	while (!strstr(strbuf_str(&t->out), text))
		assert_true(next(t));
}

int talk_finish(struct talk *t)
{
	int status = -1;

	while (t->fd >= 0 && next(t))
		;
	if (t->fd >= 0)
		(void)close(t->fd);
	t->fd = -1;
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	t->pid = -1;
	return status;
}

void talk_job(struct talk *t, const struct proto_job *job)
{
	talk_start(t);
	talk_send(t, job);
	(void)talk_finish(t);
}

const struct strbuf *talk_file(const struct talk *t, const char *name)
{
	for (size_t i = 0; i < t->nfiles; i++) {
		if (!strcmp(t->names[i], name))
			return &t->files[i];
	}
	return NULL;
}

void talk_done(struct talk *t)
{
	if (t->pid > 0)
		(void)talk_finish(t);
	proto_decoder_done(&t->decoder);
	proto_hello_done(&t->hello);
	proto_ready_done(&t->ready);
	for (size_t i = 0; i < t->nended; i++)
		proto_run_end_done(&t->ends[i]);
	for (size_t i = 0; i < t->nfiles; i++) {
		free(t->names[i]);
		strbuf_done(&t->files[i]);
	}
	strbuf_done(&t->out);
	strbuf_done(&t->err);
	free(t->fault_stage);
	free(t->fault_text);
}

void shell_job(struct shell_job *j, const char *scratch, const char *const *scripts)
{
	memset(j, 0, sizeof(*j));
	j->job = (struct proto_job){ .commands = j->commands,
				     .runs = 1,
				     .deadline_s = 60,
				     .output_max_bytes = 1048576,
				     .monitor_interval_s = 1 };
	for (size_t i = 0; scripts[i]; i++) {
		const char *s = scripts[i];
		struct proto_command *c = &j->commands[i];

		*c = (struct proto_command){ .argv = j->argv[i], .copies = 1 };
		if (!strncmp(s, "setup: ", 7))
			c->phase = PROTO_PHASE_SETUP;
		else if (!strncmp(s, "cleanup: ", 9))
			c->phase = PROTO_PHASE_CLEANUP;
		if (c->phase != PROTO_PHASE_RUN)
			s = strchr(s, ' ') + 1;
		j->argv[i][0] = ARG("sh");
		j->argv[i][1] = ARG("-c");
		j->argv[i][2] = ARG(s);
		j->job.ncommands = i + 1;
	}
	(void)setenv("SCRATCH", scratch, 1);
}
