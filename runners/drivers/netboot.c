/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Driver "netboot": the machine's firmware loads a script, kernel and initramfs from our web server,
 * and its agent talks through the same server. We never reach the machine itself, but its outlet.
 */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/console.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/initramfs.h"
#include "runners/drivers/netboot_priv.h"
#include "runners/drivers/power.h"
#include "runners/drivers/session.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define STEP_S	   0.25
#define PANIC_S	   1 /* for the rest of a panic's message */
#define FAREWELL_S 1 /* for what is still on its way from the console */
#define RETRY_S	   1 /* between two tries to reach a database that is away */
#define WITHDRAW_S 20
#define CONSOLE_S  2 /* until a console command that ended is started again */

/* A kernel cuts its command line at 2048 bytes, and the address of the server is at the end. */
#define APPEND_MAX 1500

static void nap(double s)
{
	const struct timespec t = { .tv_sec = (time_t)s,
				    .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };

	(void)nanosleep(&t, NULL);
}

/* ---- console ---- */

static void console_start(struct netboot *n)
{
	const char *argv[] = { "/bin/sh", "-c", n->m->console_command, NULL };
	struct child_opts opts = CHILD_OPTS_INIT;
	int theirs = -1;

	if (!n->m->console_command || driver_now_s() < n->console_due_s)
		return;
	n->console_due_s = driver_now_s() + CONSOLE_S;
	if (driver_pair(&n->console_fd, &theirs, NULL) < 0)
		return;
	opts.argv = argv;
	opts.stdout_fd = theirs;
	if (child_spawn(&opts, &n->console_pid, NULL) < 0) {
		n->console_pid = -1;
		closep(&n->console_fd);
		n->console_fd = -1;
	}
	closep(&theirs);
}

static void console_stop(struct netboot *n)
{
	if (n->console_pid > 0)
		(void)child_kill_group(n->console_pid);
	n->console_pid = -1;
	closep(&n->console_fd);
	n->console_fd = -1;
}

static void console_pump(struct netboot *n)
{
	char buf[65536];
	long len = 0;

	if (n->console_fd < 0)
		console_start(n);
	for (int i = 0; i < 16 && n->console_fd >= 0; i++) {
		len = driver_read(n->console_fd, buf, sizeof(buf));
		if (len <= 0)
			break;
		console_add(&n->console, buf, (size_t)len);
	}
	/* A line to a management controller breaks; the rest of the boot is worth hearing. */
	if (len < 0)
		console_stop(n);
	if (n->console.signs[CONSOLE_PANIC] && !n->stop_at_s)
		n->stop_at_s = driver_now_s() + PANIC_S;
	if (!n->session.over && n->console.signs[CONSOLE_OOPS])
		n->trouble = CONSOLE_OOPS;
	else if (!n->session.over && n->trouble == CONSOLE_NONE && n->console.signs[CONSOLE_OOM])
		n->trouble = CONSOLE_OOM;
}

/* ---- where the machine meets us ---- */

/* May a call that failed like this be made again? Otherwise it ends the boot. */
static bool may_retry(struct netboot *n, int r)
{
	n->lost_lease |= r == ERR_LEASE_LOST;
	return r < 0 && err_is_transient(r) && !netboot_is_cancelled(n) &&
	       driver_now_s() < netboot_total_end_s(n);
}

static int store(struct netboot *n, const char *path, char ret[65], struct err *e)
{
	int r;

	while (may_retry(n, r = n->ops->store(n->ops->arg, path, ret, e)))
		nap(RETRY_S);
	return r;
}

static int offer(struct netboot *n, struct err *e)
{
	const struct lab_netboot_offer o = {
		.machine = n->m->name,
		.mac = n->m->mac,
		.nonce = n->q->nonce,
		.append = n->append,
		.kernel = n->kernel,
		.initrd = n->initrd,
	};
	int r;

	while (may_retry(n, r = n->ops->offer(n->ops->arg, &o, e)))
		nap(RETRY_S);
	n->offered = r == 0;
	n->events = 0;
	return r;
}

static void withdraw(struct netboot *n)
{
	double end_s = driver_now_s() + WITHDRAW_S;
	int r;

	/* The next offer for the machine takes its place in any case. */
	while (n->offered && !n->lost_lease) {
		r = n->ops->withdraw(n->ops->arg, NULL);
		if (r == 0 || !err_is_transient(r) || driver_now_s() > end_s)
			break;
		nap(RETRY_S);
	}
}

static void note_events(struct netboot *n, unsigned events)
{
	double now = driver_now_s();

	n->events = events;
	if (netboot_scripts(n) && !n->script_s)
		n->script_s = now;
}

/* What could not be asked for so long does not count against the machine. */
static void note_away(struct netboot *n, bool away)
{
	double now = driver_now_s();

	if (away && !n->away_s) {
		n->away_s = now;
	} else if (!away && n->away_s) {
		n->lost_s += now - n->away_s;
		n->heard_s += now - n->away_s;
		n->away_s = 0;
	}
}

/* Sends and takes what there is. @ret_some: did the agent send anything? */
static int exchange(struct netboot *n, bool *ret_some, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf in = STRBUF_INIT;
	unsigned events = 0;
	int r = 0;

	*ret_some = false;
	if (n->session.out.len) {
		r = n->ops->send(n->ops->arg, n->session.out.s, n->session.out.len, e);
		if (r == 0)
			strbuf_reset(&n->session.out);
	}
	if (r == 0)
		r = n->ops->take(n->ops->arg, &in, &events, e);
	if (r < 0 && may_retry(n, r)) {
		note_away(n, true);
		return 0;
	}
	if (r < 0)
		return r;
	note_away(n, false);
	note_events(n, events);
	if (!in.len)
		return 0;
	*ret_some = true;
	n->heard_s = driver_now_s();
	r = session_add(&n->session, in.s, in.len, e);
	if (n->session.hello_seen && isnan(n->ret->boot_s)) {
		n->ret->boot_s = n->heard_s - n->on_s;
		n->scripts_hello = netboot_scripts(n);
	}
	return r;
}

static int watch(struct netboot *n, bool *ret_again, struct err *e)
{
	int r = 0;

	while (!n->session.over && !netboot_limit_passed(n, ret_again)) {
		struct pollfd p = { .fd = n->console_fd, .events = POLLIN };
		double end_s = driver_now_s() + STEP_S;
		bool some;

		console_pump(n);
		r = exchange(n, &some, e);
		if (r < 0)
			break;
		while (!some && !n->session.over && driver_now_s() < end_s) {
			p.fd = n->console_fd;
			(void)poll(&p, 1, (int)((end_s - driver_now_s()) * 1000) + 1);
			console_pump(n);
		}
	}
	return r;
}

/* ---- one boot ---- */

static char *command_line(const struct lab_machine *m, const struct lab_request *q)
{
	struct strbuf s = STRBUF_INIT;

	/* After a panic the machine starts again, which is seen even without a console. */
	strbuf_addf(&s, "panic=5 oops=panic kperfbot.nonce=%s", q->nonce);
	if (!m->append || (strncmp(m->append, "ip=", 3) != 0 && !strstr(m->append, " ip=")))
		strbuf_addstr(&s, " ip=dhcp");
	if (setting_get(q, "thp"))
		strbuf_addf(&s, " transparent_hugepage=%s", setting_get(q, "thp"));
	if (m->append && *m->append)
		strbuf_addf(&s, " %s", m->append);
	return strbuf_take(&s);
}

static int prepare(struct netboot *n, struct err *e)
{
	_cleanup_(freep) char *initrd = xasprintf("%s/initramfs.cpio", n->q->scratch_dir);
	int r;

	n->append = command_line(n->m, n->q);
	r = initramfs_write(initrd, n->m->agent_path, n->m->workloads_path, e);
	if (r == 0 && n->m->overlay)
		r = initramfs_overlay(initrd, n->m->overlay, e);
	if (r == 0)
		r = store(n, n->q->kernel_path, n->kernel, e);
	if (r == 0)
		r = store(n, initrd, n->initrd, e);
	(void)unlink(initrd);
	return r;
}

/* Return: 0 and the machine is on; 0 and the result says why it is not; or an error. */
static int power_on(struct netboot *n, struct err *e)
{
	const struct lab_power *p = &n->m->power;
	struct err why = { 0 };
	int r;

	/*
	 * Off before the offer is up: what still runs from before must not take it. While the machine
	 * is off nobody asks for its script.
	 */
	r = power_set(p, false, n->q->cancel, &why);
	if (r == 0) {
		r = offer(n, e);
		if (r < 0)
			return r;
		r = power_cycle(p, n->q->cancel, &why);
	}
	n->lost_lease |= r == ERR_LEASE_LOST;
	n->on_s = n->heard_s = driver_now_s();
	n->script_s = n->stop_at_s = n->lost_s = n->away_s = 0;
	if (r == 0)
		n->ret->power_cycles++;
	else if (r == ERR_CANCELLED)
		result_blame(n->ret, LAB_CANCELLED, "cancelled");
	else if (r == ERR_LAB)
		result_blame(n->ret, LAB_POWER, "%s", why.msg);
	else
		return err_set(e, r, "%s", why.msg);
	return 0;
}

static int boot(struct netboot *n, struct err *e)
{
	bool again = true;
	int r = 0;

	for (int i = 0; i < 2 && r == 0 && again && n->ret->class == LAB_OK; i++) {
		again = false;
		console_pump(n);
		console_forget(&n->console);
		r = power_on(n, e);
		if (r < 0 || n->ret->class != LAB_OK)
			break;
		driver_progress(n->q, LAB_STATE_BOOTING);
		r = watch(n, &again, e);
		driver_progress(n->q, LAB_STATE_RESETTING);
	}
	if (r == 0 && again)
		netboot_blame(n, LAB_NET, "the machine never asked for its script");
	return r;
}

/* Whatever happened: nothing is offered any more, and the machine is off, unless another has it. */
static void finish(struct netboot *n)
{
	double end_s = driver_now_s() + FAREWELL_S;

	while (n->console_fd >= 0 && driver_now_s() < end_s) {
		console_pump(n);
		nap(0.05);
	}
	withdraw(n);
	if (!n->lost_lease)
		(void)power_set(&n->m->power, false, NULL, NULL);
	console_pump(n);
	console_stop(n);
}

static int check(const struct lab_machine *m, const struct lab_request *q, struct err *e)
{
	struct err why = { 0 };

	if (!q->build_id || !*q->build_id)
		return err_set(e, ERR_INVAL,
			       "no build id is given: nothing could prove which kernel ran");
	if (!m->netboot.url || !m->netboot.offer)
		return err_set(e, ERR_INVAL, "driver 'netboot' has no server to boot from");
	if (!m->mac)
		return err_set(e, ERR_INVAL, "driver 'netboot' needs the network address (mac)");
	if (!power_exists(&m->power))
		return err_set(e, ERR_INVAL, "driver 'netboot' needs a power control");
	if (m->append && strpbrk(m->append, "\r\n"))
		return err_set(e, ERR_INVAL, "append is more than one line");
	if (m->append && strlen(m->append) > APPEND_MAX)
		return err_set(e, ERR_INVAL, "append has %zu bytes, it may have %d at most",
			       strlen(m->append), APPEND_MAX);
	if (!q->kernel_path || access(q->kernel_path, R_OK) < 0)
		return err_errno(e, q->kernel_path ? errno : EINVAL, "cannot read kernel '%s'",
				 q->kernel_path ? q->kernel_path : "");
	if (power_check(&m->power, &why) < 0)
		return err_set(e, ERR_INVAL, "%s", why.msg);
	return 0;
}

int netboot_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
		 struct err *e)
{
	struct netboot n = {
		.m = m, .q = q, .ops = &m->netboot, .ret = ret, .console_pid = -1, .console_fd = -1
	};
	int r = check(m, q, e);

	if (r < 0)
		return r;
	session_init(&n.session, m, q, ret, true);
	n.start_s = n.on_s = n.heard_s = driver_now_s();
	driver_progress(q, LAB_STATE_OFF);
	r = prepare(&n, e);
	if (r == 0)
		r = boot(&n, e);
	finish(&n);
	if (r == 0)
		netboot_trouble_blame(&n);
	session_end(&n.session);
	ret->console = console_text(&n.console, &ret->console_len);
	if (!n.lost_lease)
		driver_progress(q, LAB_STATE_OFF);
	session_done(&n.session);
	console_done(&n.console);
	free(n.append);
	return r;
}
