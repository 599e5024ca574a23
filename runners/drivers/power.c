/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/power.h"

#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/drivers.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#define OFF_S	    5
#define ACTION_S    30
#define OUTPUT_MAX  65536
#define READ_STEP_S 0.25

bool power_exists(const struct lab_power *p)
{
	return p->on || p->off || p->ipmi_host;
}

/* "host", "host:port", "[v6]:port" or a plain IPv6 address. free() both. */
static void split_host(const char *s, char **ret_host, char **ret_port)
{
	const char *end = s[0] == '[' ? strchr(s, ']') : NULL;
	const char *colon = strchr(end ? end : s, ':');

	if (colon && !end && strchr(colon + 1, ':'))
		colon = NULL;
	*ret_port = xstrdup(colon ? colon + 1 : "623");
	if (end)
		*ret_host = xstrndup(s + 1, (size_t)(end - s) - 1);
	else
		*ret_host = colon ? xstrndup(s, (size_t)(colon - s)) : xstrdup(s);
}

/* They become arguments of ipmitool. */
static int host_check(const char *s, struct err *e)
{
	_cleanup_(freep) char *host = NULL, *port = NULL;
	int64_t n;

	split_host(s, &host, &port);
	for (const char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && (p == host || !strchr(".-_%", *p)) && *p != ':')
			return err_set(e, ERR_CONFIG, "ipmi '%.80s' is no host or host:port", s);
	if (!*host || parse_i64(port, 1, 65535, &n, NULL) < 0)
		return err_set(e, ERR_CONFIG, "ipmi '%.80s' is no host or host:port", s);
	return 0;
}

int power_check(const struct lab_power *p, struct err *e)
{
	if (p->ipmi_host && (p->on || p->off || p->status))
		return err_set(e, ERR_CONFIG,
			       "both IPMI and power commands are given, it has to be one of them");
	if (p->ipmi_host && (!p->ipmi_user || !p->ipmi_password_file))
		return err_set(e, ERR_CONFIG, "IPMI needs a user and a file with the password");
	if (p->ipmi_host && host_check(p->ipmi_host, e) < 0)
		return ERR_CONFIG;
	if (!p->ipmi_host && !p->on != !p->off)
		return err_set(e, ERR_CONFIG, "there is a command for power %s, but none for %s",
			       p->on ? "on" : "off", p->on ? "off" : "on");
	if (!p->ipmi_host && !p->on && p->status)
		return err_set(e, ERR_CONFIG,
			       "there is a command for the power status, but none for on and off");
	return 0;
}

/* The last line with something in it. */
static char *last_line(const char *s)
{
	size_t end = strlen(s), start;

	while (end && isspace((unsigned char)s[end - 1]))
		end--;
	for (start = end; start && s[start - 1] != '\n'; start--)
		;
	return xstrndup(s + start, end - start);
}

/* Runs one action of the control: "on", "off" or "status". */
static int control(const struct lab_power *p, const char *action, char **ret_out, struct err *e)
{
	_cleanup_(child_result_done) struct child_result res = { 0 };
	const char *command = !strcmp(action, "on")    ? p->on
			      : !strcmp(action, "off") ? p->off
						       : p->status;
	_cleanup_(freep) char *host = NULL, *port = NULL;
	_cleanup_(freep) char *line = NULL;
	const char *shell[] = { "/bin/sh", "-c", command, NULL };
	/*
	 * The password stays in its file: an argument could be read by everybody. Few repeats: a
	 * controller that does not know the question for its cipher suites costs all of them.
	 */
	const char *ipmi[] = {
		"ipmitool", "-I",
		"lanplus",  "-R",
		"2",	    "-H",
		NULL,		  /* host */
		"-p",	    NULL, /* port */
		"-U",	    p->ipmi_user ? p->ipmi_user : "",
		"-f",	    p->ipmi_password_file ? p->ipmi_password_file : "/dev/null",
		"chassis",  "power",
		action,	    NULL
	};
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT,
				       .total_s = driver_timeout_s(p->timeout_s, ACTION_S),
				       .max_output = OUTPUT_MAX };
	char how[64];
	int r;

	if (p->ipmi_host) {
		split_host(p->ipmi_host, &host, &port);
		ipmi[6] = host;
		ipmi[8] = port;
	}
	opts.spawn.argv = p->ipmi_host ? ipmi : shell;
	r = child_run(&opts, &res, e);
	if (r < 0) {
		(void)err_wrap(e, "power %s", action);
		return ERR_LAB;
	}
	if (res.end == CHILD_EXITED && res.status == 0) {
		*ret_out = xstrdup(res.out);
		return 0;
	}
	line = last_line(res.out);
	return err_set(e, ERR_LAB, "power %s: %s%s%.300s", action, child_end_text(&res, how),
		       *line ? ": " : "", line);
}

/* Which of the words on and off is there? Neither or both: -1. */
static int find_state(const char *s)
{
	bool on = false, off = false;

	while (*s) {
		size_t n = 0;

		while (isalpha((unsigned char)s[n]))
			n++;
		on |= n == 2 && !strncasecmp(s, "on", 2);
		off |= n == 3 && !strncasecmp(s, "off", 3);
		s += n ? n : 1;
	}
	return on == off ? -1 : on;
}

int power_read(const struct lab_power *p, bool *ret_on, struct err *e)
{
	_cleanup_(freep) char *out = NULL;
	_cleanup_(freep) char *line = NULL;
	int r, state;

	if (!p->ipmi_host && !p->status)
		return err_set(e, ERR_UNSUPPORTED, "there is no command for the power status");
	r = control(p, "status", &out, e);
	if (r < 0)
		return r;
	state = find_state(out);
	if (state < 0) {
		line = last_line(out);
		return err_set(e, ERR_LAB, "power status: neither on nor off, but '%.300s'", line);
	}
	*ret_on = state;
	return 0;
}

static bool is_cancelled(const volatile int *cancel)
{
	return cancel && *cancel;
}

static void nap(double s)
{
	const struct timespec t = { .tv_sec = (time_t)s,
				    .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };

	(void)nanosleep(&t, NULL);
}

/*
 * Until the machine is read as @on, or the time of the action is over. A control that cannot be read
 * after it has failed is not asked again and again.
 */
static int wait_state(const struct lab_power *p, bool on, bool patient, double start_s,
		      struct err *e)
{
	double end_s = start_s + driver_timeout_s(p->timeout_s, ACTION_S);
	bool is_on;
	int r;

	for (;;) {
		r = power_read(p, &is_on, e);
		if (r == 0 && is_on == on)
			return 0;
		if (r == 0)
			r = err_set(e, ERR_LAB, "power %s: the machine is still %s after %.0f s",
				    on ? "on" : "off", is_on ? "on" : "off",
				    driver_now_s() - start_s);
		if (!patient || driver_now_s() + READ_STEP_S >= end_s)
			return r;
		nap(READ_STEP_S);
	}
}

static void say(const struct lab_power *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct lab_power *p, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	if (!p->note)
		return;
	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	p->note(p->arg, strbuf_str(&b));
	strbuf_done(&b);
}

static int set_once(const struct lab_power *p, bool on, struct err *e)
{
	bool can_read = p->ipmi_host || p->status;
	const char *action = on ? "on" : "off";
	_cleanup_(freep) char *out = NULL;
	double start_s = driver_now_s();
	struct err read = { 0 };
	int r;

	if (p->still_ours && !p->still_ours(p->arg))
		return err_set(e, ERR_LEASE_LOST, "power %s: the machine is no longer ours",
			       action);
	say(p, "power %s: begins", action);
	r = control(p, action, &out, e);
	/* "Off" fails on some controls when it is off already: only the state counts. */
	if (can_read && wait_state(p, on, r == 0, start_s, &read) == 0)
		r = 0;
	else if (can_read && r == 0)
		r = err_set(e, ERR_LAB, "%s", read.msg);
	if (r == 0)
		say(p, "power %s: done after %.1f s", action, driver_now_s() - start_s);
	else
		say(p, "power %s: failed: %s", action, e ? e->msg : "");
	return r;
}

int power_set(const struct lab_power *p, bool on, const volatile int *cancel, struct err *e)
{
	struct err own = { 0 };
	int r = set_once(p, on, &own);

	if (r == ERR_LAB && !(on && is_cancelled(cancel)))
		r = set_once(p, on, &own);
	if (r < 0 && e)
		*e = own;
	return r;
}

static int cycle_once(const struct lab_power *p, const volatile int *cancel, struct err *e)
{
	double off_s = driver_timeout_s(p->off_s, OFF_S);
	int r = power_set(p, false, cancel, e);
	double end_s = driver_now_s() + off_s;

	while (r == 0 && driver_now_s() < end_s) {
		if (is_cancelled(cancel))
			return err_set(e, ERR_CANCELLED, "cancelled");
		nap(0.1);
	}
	return r < 0 ? r : power_set(p, true, cancel, e);
}

int power_cycle(const struct lab_power *p, const volatile int *cancel, struct err *e)
{
	struct err own = { 0 };
	int r = cycle_once(p, cancel, &own);

	if (r == ERR_LAB && !is_cancelled(cancel))
		r = cycle_once(p, cancel, &own);
	/* Half on, or on at last: a machine that nobody watches is to be off. */
	if (r == ERR_LAB)
		(void)power_set(p, false, cancel, NULL);
	if (r < 0 && e)
		*e = own;
	return r;
}
