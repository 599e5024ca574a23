/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/ssh.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/ssh_remote.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_S	120
#define REACH_S 60
/* Copying: at least so much, and no slower than that. */
#define COPY_S		 30
#define COPY_BYTES_PER_S (1 << 20)
#define START_S		 60

static int call(struct ssh_machine *s, const char *script, int stdin_fd, double deadline_s,
		struct ssh_answer *ret, struct err *e)
{
	const struct ssh_call c = {
		.ssh = &s->m->ssh,
		.script = script,
		.stdin_fd = stdin_fd,
		.deadline_s = deadline_s,
		.tick = ssh_tick,
		.arg = s,
	};

	return ssh_call(&c, ret, e);
}

/* Blames what a command there ended with. Return: was all well? */
static bool answer_is_well(struct ssh_machine *s, const struct ssh_answer *a, const char *what)
{
	_cleanup_(freep) char *line = NULL;
	enum lab_class class;

	if (a->end == SSH_STOPPED)
		result_blame(s->ret, LAB_CANCELLED, "cancelled");
	else if (a->end == SSH_LATE)
		result_blame(s->ret, LAB_NET, "%s: no answer from '%s' in time", what,
			     s->m->ssh.host);
	else if (a->status == 0)
		return true;
	if (s->ret->class != LAB_OK)
		return false;
	class = ssh_failure_class(a->status, strbuf_str(&a->said), &line);
	if (a->status == SSH_EXIT_DAMAGED)
		result_blame(s->ret, LAB_NET, "%s: what arrived is not what was sent", what);
	else if (*line)
		result_blame(s->ret, class, "%s: %s", what, line);
	else
		result_blame(s->ret, class, "%s: status %d", what, a->status);
	return false;
}

static int files_hash(struct ssh_machine *s, struct err *e)
{
	const char *paths[SSH_FILES] = {
		[SSH_FILE_AGENT] = s->m->agent_path,
		[SSH_FILE_WORKLOADS] = s->m->workloads_path,
		[SSH_FILE_KERNEL] = s->boots ? s->q->kernel_path : NULL,
	};
	int r = 0;

	for (int i = 0; i < SSH_FILES && r == 0; i++) {
		if (paths[i])
			r = file_sha256_path(paths[i], s->files[i].hash, &s->files[i].size_bytes,
					     e);
	}
	return r;
}

static bool boot_id_is_sane(const char *id)
{
	size_t n = id ? strlen(id) : 0;

	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)id[i]) && id[i] != '-')
			return false;
	}
	return n >= 8 && n <= 64;
}

/* Takes what the script of ssh_script_reach() printed. */
static void reach_take(struct ssh_machine *s, const struct ssh_answer *a)
{
	_cleanup_(freep) char *id = ssh_answer_word(a, "boot_id");
	_cleanup_(freep) char *uid = ssh_answer_word(a, "uid");
	_cleanup_(freep) char *avail = ssh_answer_word(a, "free_kb");
	_cleanup_(freep) char *need = ssh_answer_word(a, "need_kb");

	if (!boot_id_is_sane(id))
		result_blame(s->ret, LAB_SSH, "the machine shows no boot id: it has to run Linux");
	else if (s->boots && (!uid || strcmp(uid, "0") != 0))
		result_blame(s->ret, LAB_SSH,
			     "user '%s' is not root there and cannot start a kernel",
			     s->m->ssh.user ? s->m->ssh.user : "root");
	else if (avail && need && *avail &&
		 strtoull(avail, NULL, 10) < strtoull(need, NULL, 10) + 1024)
		result_blame(s->ret, LAB_DISK,
			     "the machine's disk is full: %s KiB free for us, %s KiB needed", avail,
			     need);
	else
		s->boot_id = take_ptr(id);
}

static int reach_once(struct ssh_machine *s, struct ssh_answer *a, struct err *e)
{
	_cleanup_(freep) char *script =
		ssh_script_reach(&s->m->ssh, s->files, s->boots ? SSH_FILES : SSH_FILE_KERNEL);

	return call(s, script, -1, REACH_S, a, e);
}

/* One power cycle for a machine that does not answer. */
static int reach(struct ssh_machine *s, struct ssh_answer *a, struct err *e)
{
	bool done = false;
	int r = reach_once(s, a, e);

	if (r < 0 || answer_is_well(s, a, "reach") || s->ret->class != LAB_NET)
		goto out;
	r = ssh_power_cycle(s, &done, e);
	if (r < 0 || !done)
		goto out;
	free(s->ret->detail);
	s->ret->detail = NULL;
	s->ret->class = LAB_OK;
	r = ssh_wait_back(s, "", driver_now_s() + driver_timeout_s(s->m->boot_timeout_s, BOOT_S),
			  &done, e);
	if (r < 0)
		return r;
	ssh_answer_done(a);
	r = reach_once(s, a, e);
	if (r == 0)
		(void)answer_is_well(s, a, "reach, after a power cycle");
out:
	if (r == 0 && s->ret->class == LAB_OK)
		reach_take(s, a);
	return r;
}

static int copy_one(struct ssh_machine *s, const struct ssh_file *f, const char *path,
		    struct err *e)
{
	_cleanup_(ssh_answer_done) struct ssh_answer a = { 0 };
	_cleanup_(freep) char *script = ssh_script_copy(&s->m->ssh, f->hash);
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(e, errno, "cannot read '%s'", path);
	r = call(s, script, fd, COPY_S + (double)f->size_bytes / COPY_BYTES_PER_S, &a, e);
	if (r == 0)
		(void)answer_is_well(s, &a, "copy");
	return r;
}

static int copy_missing(struct ssh_machine *s, const struct ssh_answer *reached, struct err *e)
{
	const char *paths[SSH_FILES] = { s->m->agent_path, s->m->workloads_path,
					 s->q->kernel_path };
	int r = 0;

	for (int i = 0; i < SSH_FILES && r == 0 && s->ret->class == LAB_OK; i++) {
		_cleanup_(freep) char *there = xasprintf("have %s\n", s->files[i].hash);

		if (s->files[i].hash[0] && !strstr(strbuf_str(&reached->out), there))
			r = copy_one(s, &s->files[i], paths[i], e);
	}
	return r;
}

static char *command_line(const struct ssh_machine *s)
{
	/* Each oops is a panic, and after a panic the machine goes back to its own system. */
	return xasprintf("panic=5 oops=panic kperfbot.nonce=%s%s%s", s->q->nonce,
			 s->m->append && *s->m->append ? " " : "",
			 s->m->append ? s->m->append : "");
}

static int start_kernel(struct ssh_machine *s, struct err *e)
{
	_cleanup_(ssh_answer_done) struct ssh_answer a = { 0 };
	_cleanup_(freep) char *append = command_line(s);
	_cleanup_(freep) char *script =
		ssh_script_boot(&s->m->ssh, s->files[SSH_FILE_KERNEL].hash, append);
	int r;

	driver_progress(s->q, LAB_STATE_BOOTING);
	r = call(s, script, -1, START_S, &a, e);
	if (r < 0)
		return r;
	(void)answer_is_well(s, &a, a.status == SSH_EXIT_COMMAND ? "boot command" : "kexec");
	/* Nothing that the console said before is about this kernel. */
	console_forget(&s->console);
	s->panic_s = 0;
	s->start_s = driver_now_s();
	return 0;
}

/* The machine answers, but from a boot that nobody asked for. */
static void other_boot(struct ssh_machine *s, const char *said)
{
	const char *at = strstr(said, "boot_id ");
	_cleanup_(freep) char *id =
		at ? xstrndup(at + 8, strspn(at + 8, "0123456789abcdef-")) : xstrdup("");
	const char *line;
	enum lab_class told = console_class(&s->console, false, &line);

	if (s->new_boot_id && !strcmp(s->new_boot_id, id))
		return;
	free(s->new_boot_id);
	s->new_boot_id = take_ptr(id);
	s->new_boots++;
	if (told != LAB_OK)
		result_blame(s->ret, told, "%s", line);
	else if (s->m->ssh.boot && !strcmp(s->m->ssh.boot, "command"))
		result_blame(
			s->ret, LAB_WRONG_KERNEL,
			"the machine started another kernel than the one that was put in place");
	else
		/* kexec took the kernel, so it ran: whatever came next is its doing. */
		result_blame(
			s->ret, LAB_BOOT_PANIC,
			"the kernel went down while it booted: the machine is back in its own");
}

/* A line that is gone while the agent was at work: is it the line, the agent or the machine? */
static int lost(struct ssh_machine *s, int status, const char *said, struct err *e)
{
	_cleanup_(freep) char *line = NULL;
	_cleanup_(freep) char *script = ssh_script_probe();
	const char *told_line;
	enum lab_class told;
	int r;

	(void)ssh_failure_class(status, said, &line);
	if (status != 255) {
		result_blame(s->ret, LAB_AGENT, "the agent left with status %d%s%s", status,
			     s->log.agent || *line ? ": " : "", s->log.agent ? s->log.agent : line);
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		_cleanup_(ssh_answer_done) struct ssh_answer a = { 0 };
		_cleanup_(freep) char *id = NULL;

		told = console_class(&s->console, s->session.hello_seen, &told_line);
		if (told != LAB_OK) {
			result_blame(s->ret, told, "%s", told_line);
			return 0;
		}
		r = call(s, script, -1, 10, &a, e);
		if (r < 0)
			return r;
		id = a.end == SSH_EXITED && a.status == 0 ? ssh_answer_word(&a, "boot_id") : NULL;
		if (a.end == SSH_STOPPED)
			result_blame(s->ret, LAB_CANCELLED, "cancelled");
		else if (id && s->ret->boot_id && !strcmp(id, s->ret->boot_id))
			result_blame(s->ret, LAB_NET,
				     "the connection broke, the machine goes on: %s", line);
		else if (id)
			result_blame(s->ret, LAB_OOPS, "the machine started again during the job");
		else
			continue;
		return 0;
	}
	result_blame(s->ret, LAB_HANG, "the machine does not answer any more: %s", line);
	return 0;
}

static void boot_is_late(struct ssh_machine *s, enum ssh_try last, const char *said)
{
	_cleanup_(freep) char *line = NULL;
	const char *told_line;
	enum lab_class told = console_class(&s->console, false, &told_line);

	(void)ssh_failure_class(255, said ? said : "", &line);
	if (told != LAB_OK)
		result_blame(s->ret, told, "%s", told_line);
	else if (s->console.agent || s->log.agent)
		result_blame(s->ret, LAB_AGENT, "agent: %s",
			     s->log.agent ? s->log.agent : s->console.agent);
	else if (last == SSH_TRY_OLD)
		result_blame(s->ret, LAB_SSH,
			     "the machine did not leave the kernel that ran before");
	else if (last == SSH_TRY_REFUSED)
		result_blame(s->ret, LAB_SSH, "no login after the boot: %s", line);
	else
		result_blame(s->ret, LAB_BOOT_HANG,
			     "no answer within the boot deadline (%.0f s)%s%s",
			     driver_now_s() - s->start_s, *line ? ": " : "", line);
}

/* The machine has gone down when it answers from another boot, not when ssh fails. */
static int work(struct ssh_machine *s, struct err *e)
{
	double end_s = s->start_s + driver_timeout_s(s->m->boot_timeout_s, BOOT_S);
	_cleanup_(freep) char *last_said = NULL;
	enum ssh_try last = SSH_TRY_NOBODY;
	int r = 0;

	while (r == 0 && s->ret->class == LAB_OK && !s->session.over) {
		_cleanup_(freep) char *said = NULL;
		enum ssh_try t = SSH_TRY_NOBODY;
		double limit_s = driver_now_s() + 15;
		int status = 255;

		r = ssh_agent_try(s, s->boots && limit_s < end_s ? limit_s : end_s, &t, &status,
				  &said, e);
		if (r < 0 || t == SSH_TRY_DONE)
			break;
		if (t == SSH_TRY_LOST)
			return lost(s, status, said, e);
		/* An attempt that the deadline cut short tells nothing. */
		if (t != SSH_TRY_NOBODY || *said) {
			last = t;
			free(last_said);
			last_said = take_ptr(said);
		}
		if (t == SSH_TRY_OTHER)
			other_boot(s, last_said);
		else if (t == SSH_TRY_REFUSED && strstr(last_said, "Host key verification failed"))
			result_blame(s->ret, LAB_SSH,
				     "another machine answered: host key verification failed");
		else if (driver_now_s() >= end_s || !s->boots)
			boot_is_late(s, last, last_said);
		ssh_nap(s, 0.5);
	}
	return r;
}

/*
 * Runs that ended well on a kernel that was not: their numbers are worth nothing. And a benchmark that
 * the kernel killed for memory is no error of the benchmark.
 */
static void trouble_blame(struct ssh_machine *s)
{
	struct lab_result *r = s->ret;
	bool oops = s->console.signs[CONSOLE_OOPS];
	const char *line = s->console.signs[oops ? CONSOLE_OOPS : CONSOLE_OOM];

	if (!line ||
	    (r->class != LAB_OK && r->class != LAB_BENCH_ERROR && r->class != LAB_BENCH_TIMEOUT))
		return;
	free(r->detail);
	r->detail = NULL;
	r->class = LAB_OK;
	result_blame(r, oops ? LAB_OOPS : LAB_OOM, "%s", line);
	for (size_t i = 0; i < r->nruns; i++) {
		free(r->runs[i].detail);
		r->runs[i].class = r->class;
		r->runs[i].detail = xstrdup(r->detail);
	}
}

static int boot(struct ssh_machine *s, struct err *e)
{
	_cleanup_(ssh_answer_done) struct ssh_answer reached = { 0 };
	int r;

	r = files_hash(s, e);
	if (r == 0)
		r = ssh_console_open(s, e);
	if (r == 0)
		r = reach(s, &reached, e);
	if (r == 0 && s->ret->class == LAB_OK)
		r = copy_missing(s, &reached, e);
	if (r < 0 || s->ret->class != LAB_OK)
		return r;
	console_forget(&s->console);
	s->start_s = driver_now_s();
	if (s->boots)
		r = start_kernel(s, e);
	if (r == 0 && s->ret->class == LAB_OK)
		r = work(s, e);
	ssh_console_pump(s);
	trouble_blame(s);
	return r < 0 ? r : ssh_restore(s, e);
}

int ssh_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	     struct err *e)
{
	struct ssh_machine s = {
		.m = m,
		.q = q,
		.ret = ret,
		.console_fd = -1,
		.console_pid = -1,
		.boots = q->build_id && *q->build_id,
	};
	int r;

	r = ssh_check(&m->ssh, e);
	if (r < 0)
		return r;
	if (s.boots && access(q->kernel_path, R_OK) < 0)
		return err_errno(e, errno, "cannot read kernel '%s'", q->kernel_path);
	session_init(&s.session, m, q, ret, s.boots);
	r = boot(&s, e);
	session_end(&s.session);
	ssh_console_close(&s);
	/* Without a console what the agent said is better than nothing. */
	ret->console = console_text(s.console.head.len ? &s.console : &s.log, &ret->console_len);
	if (r == 0)
		driver_progress(q, LAB_STATE_IDLE);
	session_done(&s.session);
	console_done(&s.console);
	console_done(&s.log);
	free(s.boot_id);
	free(s.new_boot_id);
	return r;
}
