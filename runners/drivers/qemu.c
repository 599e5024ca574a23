/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver "qemu": one guest per call, from power-on to its end. */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/console.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/initramfs.h"
#include "runners/drivers/qemu_args.h"
#include "runners/drivers/qmp.h"
#include "runners/drivers/session.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define FIRST_BYTE_KVM_S 10
#define FIRST_BYTE_TCG_S 30
#define BOOT_S		 120
#define SILENCE_S	 60

/* After the agent's farewell, until the guest has powered itself off. */
#define POWER_OFF_S 5
/* After a panic, for the rest of its message. */
#define PANIC_S 1
/* Of QEMU's own messages. */
#define ERRORS_MAX 16384

enum {
	LINE_AGENT,
	LINE_CONSOLE,
	LINE_FIRMWARE,
	LINE_QMP,
	LINE_ERRORS,
	LINES
};

struct guest {
	const struct lab_machine *m;
	const struct lab_request *q;
	struct lab_result *ret;
	enum qemu_accel accel;
	pid_t pid;
	int line[LINES];
	struct session session;
	struct console console;
	struct qmp qmp;
	struct strbuf errors;
	bool alive;		   /* some byte came out of the guest */
	enum console_sign trouble; /* on the console while runs were still to come */
	double start_s, heard_s, stop_at_s;
	int exit_status;
};

static int guest_start(struct guest *g, const char *initrd, struct err *e)
{
	int theirs[LINES] = { -1, -1, -1, -1, -1 };
	_cleanup_(qemu_args_done) struct qemu_args args = { 0 };
	struct child_opts opts = CHILD_OPTS_INIT;
	struct qemu_fds fds;
	int r = 0;

	for (int i = 0; i < LINES && r == 0; i++)
		r = driver_pair(&g->line[i], &theirs[i], e);
	if (r == 0) {
		fds = (struct qemu_fds){ .agent = theirs[LINE_AGENT],
					 .console = theirs[LINE_CONSOLE],
					 .firmware = theirs[LINE_FIRMWARE],
					 .qmp = theirs[LINE_QMP] };
		qemu_args_guest(&args, g->m, g->q, g->accel, initrd, &fds);
		opts.argv = (const char *const *)args.argv.items;
		opts.stdout_fd = theirs[LINE_ERRORS];
		opts.stderr_fd = theirs[LINE_ERRORS];
		opts.pass_fds = theirs;
		opts.pass_fds_n = LINE_ERRORS;
		r = child_spawn(&opts, &g->pid, e);
		/* A program that is not there is a fault of the machine, not of the request. */
		if (r == ERR_NOENT || r == ERR_PERM) {
			struct err why = *e;

			r = err_set(e, ERR_LAB, "%s", why.msg);
		}
	}
	for (int i = 0; i < LINES; i++)
		closep(&theirs[i]);
	g->start_s = g->heard_s = driver_now_s();
	return r;
}

/* The earliest limit that holds now, and what it means when it passes. */
static double limit_next(const struct guest *g, enum lab_class *class, const char **why)
{
	double boot = g->start_s + driver_timeout_s(g->m->boot_timeout_s, BOOT_S);
	double first = g->start_s +
		       driver_timeout_s(g->m->first_byte_timeout_s,
					g->accel == QEMU_KVM ? FIRST_BYTE_KVM_S : FIRST_BYTE_TCG_S);
	double silence = g->heard_s + driver_timeout_s(g->m->silence_timeout_s, SILENCE_S);
	/* A counted second may take several real ones. */
	double runs = g->q->runs * g->session.deadline_s * (g->accel == QEMU_ICOUNT ? 10 : 1.5);
	double total =
		g->start_s + driver_timeout_s(g->q->total_timeout_s, boot - g->start_s + runs + 60);
	double at = total;

	*class = g->session.hello_seen ? LAB_BENCH_TIMEOUT : LAB_BOOT_HANG;
	*why = "not done within the total time";
	if (g->session.hello_seen && silence < at) {
		at = silence;
		*class = LAB_HANG;
		*why = "the machine gave no sign of life";
	}
	if (!g->session.hello_seen && boot < at) {
		at = boot;
		*class = LAB_BOOT_HANG;
		*why = "the agent did not speak within the boot deadline";
	}
	if (!g->alive && first < at) {
		at = first;
		*class = LAB_ACCEL;
		*why = "not one byte came out of the guest";
	}
	return at;
}

/*
 * A deadline says where the guest was; what it said before tells more. An oops before the deadline is
 * the reason, and an agent that complains on the console has booted.
 */
static void limit_blame(struct guest *g, enum lab_class class, const char *why)
{
	const char *oops = g->console.signs[CONSOLE_OOPS];
	double after_s = driver_now_s() - g->start_s;

	if (class == LAB_ACCEL)
		result_blame(g->ret, class, "%s: %s in %.0f s", qemu_accel_name(g->accel), why,
			     after_s);
	else if (oops && !g->session.hello_seen)
		result_blame(g->ret, LAB_BOOT_PANIC, "%s", oops);
	else if (oops)
		result_blame(g->ret, LAB_OOPS, "%s", oops);
	else if (!g->session.hello_seen && g->console.agent)
		result_blame(g->ret, LAB_AGENT, "agent, on the console: %s", g->console.agent);
	else if (g->console.signs[CONSOLE_HANG])
		result_blame(g->ret, class, "%s (%.0f s): %s", why, after_s,
			     g->console.signs[CONSOLE_HANG]);
	else
		result_blame(g->ret, class, "%s (%.0f s)", why, after_s);
}

static void line_close(struct guest *g, int i)
{
	closep(&g->line[i]);
	g->line[i] = -1;
}

static int line_take(struct guest *g, int i, const char *buf, size_t len, struct err *e)
{
	bool was_over = g->session.over;
	int r = 0;

	if (i != LINE_QMP && i != LINE_ERRORS)
		g->alive = true;
	switch (i) {
	case LINE_AGENT:
		g->heard_s = driver_now_s();
		r = session_add(&g->session, buf, len, e);
		if (g->session.hello_seen && isnan(g->ret->boot_s))
			g->ret->boot_s = g->heard_s - g->start_s;
		if (g->session.over && !was_over)
			g->stop_at_s = g->heard_s + (g->session.bye ? POWER_OFF_S : 0);
		break;
	case LINE_CONSOLE:
		console_add(&g->console, buf, len);
		if (g->console.signs[CONSOLE_PANIC] && !g->stop_at_s)
			g->stop_at_s = driver_now_s() + PANIC_S;
		break;
	case LINE_QMP:
		r = qmp_add(&g->qmp, buf, len, e);
		break;
	case LINE_ERRORS:
		if (g->errors.len < ERRORS_MAX)
			strbuf_add(&g->errors, buf, len);
		break;
	default:
		break;
	}
	return r;
}

/* Reads what a line holds now, at most @pieces; a line that is at its end is closed. */
static int line_pump(struct guest *g, int i, int pieces, struct err *e)
{
	char buf[65536];
	int r = 0;

	while (r == 0 && g->line[i] >= 0 && pieces-- > 0) {
		long n = driver_read(g->line[i], buf, sizeof(buf));

		if (n == 0)
			break;
		if (n < 0)
			line_close(g, i);
		else
			r = line_take(g, i, buf, (size_t)n, e);
	}
	return r;
}

/* Signs on the console count against the runs only while there were any to come. */
static void trouble_note(struct guest *g)
{
	if (g->console.signs[CONSOLE_OOPS])
		g->trouble = CONSOLE_OOPS;
	else if (g->console.signs[CONSOLE_OOM])
		g->trouble = CONSOLE_OOM;
}

static int lines_pump(struct guest *g, int pieces, struct err *e)
{
	bool was_over = g->session.over;
	int r = 0;

	/* The console first, and again after the agent: what it said before the farewell counts. */
	static const int order[] = { LINE_QMP, LINE_FIRMWARE, LINE_ERRORS, LINE_CONSOLE,
				     LINE_AGENT };

	for (size_t i = 0; i < ARRAY_SIZE(order) && r == 0; i++)
		r = line_pump(g, order[i], pieces, e);
	if (r == 0 && !was_over && g->session.over)
		r = line_pump(g, LINE_CONSOLE, pieces, e);
	if (!was_over)
		trouble_note(g);
	return r;
}

static bool should_stop(struct guest *g)
{
	enum lab_class class;
	const char *why;

	if (g->q->cancel && *g->q->cancel)
		result_blame(g->ret, LAB_CANCELLED, "cancelled");
	else if (g->qmp.stopped[0])
		result_blame(g->ret, g->accel == QEMU_KVM ? LAB_ACCEL : LAB_FAULT, "%s: %s%s%.*s",
			     qemu_accel_name(g->accel), g->qmp.stopped, g->errors.len ? ": " : "",
			     (int)strcspn(strbuf_str(&g->errors), "\n"), strbuf_str(&g->errors));
	else if (g->line[LINE_QMP] < 0)
		return true;
	else if (g->stop_at_s)
		return driver_now_s() >= g->stop_at_s;
	else if (driver_now_s() >= limit_next(g, &class, &why))
		limit_blame(g, class, why);
	else
		return false;
	return true;
}

static int guest_watch(struct guest *g, struct err *e)
{
	int r = 0;

	while (r == 0 && !should_stop(g)) {
		struct pollfd p[LINES];
		enum lab_class class;
		const char *why;
		double left = (g->stop_at_s ? g->stop_at_s : limit_next(g, &class, &why)) -
			      driver_now_s();

		/* Lines that break here are seen as ended by the next read. */
		(void)driver_send(g->line[LINE_AGENT], &g->session.out);
		(void)driver_send(g->line[LINE_QMP], &g->qmp.out);
		for (int i = 0; i < LINES; i++)
			p[i] = (struct pollfd){ .fd = g->line[i], .events = POLLIN };
		if (g->session.out.len)
			p[LINE_AGENT].events |= POLLOUT;
		/* Short enough to notice a wish to cancel. */
		(void)poll(p, LINES, left > 0.25 ? 250 : left > 0 ? (int)(left * 1000) + 1 : 0);
		r = lines_pump(g, 16, e);
	}
	return r;
}

/* Lets QEMU end by itself if it is about to, kills it otherwise, and reaps it in any case. */
static void guest_stop(struct guest *g)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	if (g->pid <= 0)
		return;
	for (int i = 0; i < 250 && g->line[LINE_QMP] < 0; i++) {
		if (waitpid(g->pid, &g->exit_status, WNOHANG) == g->pid) {
			(void)kill(-g->pid, SIGKILL);
			g->pid = -1;
			return;
		}
		(void)nanosleep(&pause, NULL);
	}
	g->exit_status = child_kill_group(g->pid);
	g->pid = -1;
}

/* QEMU ended, or was stopped, before the session was over: why? */
static int end_blame(struct guest *g, struct err *e)
{
	const char *reason = g->qmp.shutdown, *line;
	enum lab_class told = console_class(&g->console, g->session.hello_seen, &line);
	int status = g->exit_status;

	if (g->console.signs[CONSOLE_PANIC]) {
		result_blame(g->ret, told, "%s", line);
	} else if (!strcmp(reason, "guest-reset") || !strcmp(reason, "guest-panic")) {
		result_blame(g->ret, g->session.hello_seen ? LAB_OOPS : LAB_BOOT_PANIC,
			     "the guest reset itself without a message");
	} else if (!strcmp(reason, "guest-shutdown")) {
		result_blame(g->ret, LAB_AGENT, "the guest powered itself off %s%s%s",
			     g->session.hello_seen ? "during the job" : "before the agent spoke",
			     g->console.agent ? ", agent: " : "",
			     g->console.agent ? g->console.agent : "");
	} else if (g->ret->class == LAB_OK) {
		const char *said = g->errors.len ? strbuf_str(&g->errors) : "it gave no reason";

		if (WIFSIGNALED(status))
			return err_set(e, ERR_LAB, "QEMU died of signal %d: %.300s",
				       WTERMSIG(status), said);
		return err_set(e, ERR_LAB, "QEMU ended with status %d%s: %.300s",
			       WEXITSTATUS(status), reason[0] ? reason : "", said);
	}
	return 0;
}

/* Runs that ended well on a kernel that was not: their numbers are worth nothing. */
static void trouble_blame(struct guest *g)
{
	enum lab_class class = g->trouble == CONSOLE_OOPS ? LAB_OOPS : LAB_OOM;
	const char *line = g->console.signs[g->trouble];

	if (g->trouble == CONSOLE_NONE)
		return;
	/* A benchmark that the kernel killed for memory is no error of the benchmark. */
	if (g->ret->class == LAB_BENCH_ERROR || g->ret->class == LAB_BENCH_TIMEOUT) {
		free(g->ret->detail);
		g->ret->detail = NULL;
		g->ret->class = LAB_OK;
	}
	result_blame(g->ret, class, "%s", line);
	for (size_t i = 0; i < g->ret->nruns; i++) {
		struct lab_run *run = &g->ret->runs[i];

		free(run->detail);
		run->class = class;
		run->detail = xstrdup(line);
	}
}

static int guest_boot(struct guest *g, const char *initrd, struct err *e)
{
	int r = guest_start(g, initrd, e);

	if (r == 0)
		r = guest_watch(g, e);
	guest_stop(g);
	/* What was still on its way when QEMU ended. */
	if (r == 0)
		r = lines_pump(g, 1 << 12, e);
	if (r == 0 && !g->session.over)
		r = end_blame(g, e);
	if (r == 0)
		trouble_blame(g);
	session_end(&g->session);
	g->ret->console = console_text(&g->console, &g->ret->console_len);
	return r;
}

static int boot_with(const struct lab_machine *m, const struct lab_request *q,
		     enum qemu_accel accel, const char *initrd, struct lab_result *ret,
		     struct err *e)
{
	struct guest g = { .m = m, .q = q, .ret = ret, .accel = accel, .pid = -1 };
	int r;

	memset(g.line, 0xff, sizeof(g.line));
	ret->boot_s = NAN;
	session_init(&g.session, m, q, ret, true);
	driver_progress(q, LAB_STATE_BOOTING);
	r = guest_boot(&g, initrd, e);
	driver_progress(q, LAB_STATE_OFF);
	for (int i = 0; i < LINES; i++)
		line_close(&g, i);
	session_done(&g.session);
	console_done(&g.console);
	qmp_done(&g.qmp);
	strbuf_done(&g.errors);
	return r;
}

/*
 * Does the accelerator run a guest at all? A kernel is not needed: the firmware speaks within
 * milliseconds. Return: NULL if it does, otherwise why not, to be freed.
 */
static char *accel_probe(const struct lab_machine *m, enum qemu_accel accel)
{
	_cleanup_(closep) int ours = -1;
	_cleanup_(closep) int theirs = -1;
	_cleanup_(closep) int err_ours = -1;
	_cleanup_(closep) int err_theirs = -1;
	_cleanup_(qemu_args_done) struct qemu_args args = { 0 };
	double limit_s = driver_timeout_s(m->first_byte_timeout_s, FIRST_BYTE_KVM_S);
	struct child_opts opts = CHILD_OPTS_INIT;
	struct err e = { 0 };
	char buf[256];
	struct pollfd p;
	long n = 0;
	pid_t pid;

	if (driver_pair(&ours, &theirs, &e) < 0 || driver_pair(&err_ours, &err_theirs, &e) < 0)
		return xstrdup(e.msg);
	qemu_args_probe(&args, m, accel, theirs);
	opts.argv = (const char *const *)args.argv.items;
	opts.stderr_fd = err_theirs;
	opts.pass_fds = &theirs;
	opts.pass_fds_n = 1;
	if (child_spawn(&opts, &pid, &e) < 0)
		return xstrdup(e.msg);
	closep(&theirs);
	theirs = -1;
	p = (struct pollfd){ .fd = ours, .events = POLLIN };
	if (poll(&p, 1, (int)(limit_s * 1000)) > 0)
		n = driver_read(ours, buf, sizeof(buf));
	(void)child_kill_group(pid);
	if (n > 0)
		return NULL;
	if (n == 0)
		return xasprintf("not one byte in %g s", limit_s);
	n = driver_read(err_ours, buf, sizeof(buf) - 1);
	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return xasprintf("QEMU ended%s%.200s", n > 0 ? ": " : "", n > 0 ? buf : "");
}

static int boot_kvm(const struct lab_machine *m, const struct lab_request *q, const char *initrd,
		    struct lab_result *ret, struct err *e)
{
	_cleanup_(freep) char *why = accel_probe(m, QEMU_KVM);

	if (!why) {
		int r = boot_with(m, q, QEMU_KVM, initrd, ret, e);

		ret->accel_used = xstrdup("kvm");
		if (r < 0 || ret->class != LAB_ACCEL)
			return r;
		/* Firmware runs, a kernel does not: nothing was measured yet, so start again. */
		why = xstrdup(ret->detail);
		lab_result_done(ret);
		memset(ret, 0, sizeof(*ret));
	}
	ret->accel_used = xasprintf("tcg (kvm probe failed: %s)", why);
	return boot_with(m, q, QEMU_TCG, initrd, ret, e);
}

int qemu_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	      struct err *e)
{
	_cleanup_(freep) char *initrd = NULL;
	enum qemu_accel accel;
	int r;

	if (!q->build_id || !*q->build_id)
		return err_set(e, ERR_INVAL,
			       "no build id is given: nothing could prove which kernel ran");
	if (access(q->kernel_path, R_OK) < 0)
		return err_errno(e, errno, "cannot read kernel '%s'", q->kernel_path);
	r = qemu_accel_find(m->accel ? m->accel : "kvm", &accel, e);
	if (r < 0)
		return r;
	initrd = xasprintf("%s/initramfs.cpio", q->scratch_dir);
	r = initramfs_write(initrd, m->agent_path, m->workloads_path, e);
	if (r == 0 && m->overlay)
		r = initramfs_overlay(initrd, m->overlay, e);
	if (r < 0)
		return r;
	if (accel == QEMU_KVM) {
		r = boot_kvm(m, q, initrd, ret, e);
	} else {
		r = boot_with(m, q, accel, initrd, ret, e);
		ret->accel_used = xstrdup(qemu_accel_name(accel));
	}
	(void)unlink(initrd);
	return r;
}
