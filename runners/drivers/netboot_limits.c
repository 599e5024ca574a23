/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long driver "netboot" waits for what, and what it means when the time is over. */
#include "runners/drivers/netboot_priv.h"

#include <stdlib.h>
#include <string.h>

/* A server's firmware may test itself for minutes before it asks for anything. */
#define SCRIPT_S   300
#define BOOT_S	   120
#define SILENCE_S  60
#define LOOP_BOOTS 3

bool netboot_is_cancelled(const struct netboot *n)
{
	return n->q->cancel && *n->q->cancel;
}

unsigned netboot_scripts(const struct netboot *n)
{
	return NETBOOT_SCRIPTS(n->events);
}

static double first_limit_s(const struct netboot *n)
{
	return driver_timeout_s(n->m->first_byte_timeout_s, SCRIPT_S);
}

static double boot_limit_s(const struct netboot *n)
{
	return driver_timeout_s(n->m->boot_timeout_s, BOOT_S);
}

double netboot_total_end_s(const struct netboot *n)
{
	double most = 2 * first_limit_s(n) + boot_limit_s(n) +
		      n->q->runs * n->session.deadline_s * 1.5 + 120;

	return n->start_s + driver_timeout_s(n->q->total_timeout_s, most);
}

void netboot_blame(struct netboot *n, enum lab_class class, const char *why)
{
	double after_s = driver_now_s() - n->on_s;
	bool up = n->session.hello_seen;
	const char *line;
	enum lab_class told = console_class(&n->console, up, &line);

	if (told != LAB_OK)
		result_blame(n->ret, told, "%s", line);
	else if (!up && n->console.agent)
		result_blame(n->ret, strstr(n->console.agent, "http:") ? LAB_NET : LAB_AGENT,
			     "agent, on the console: %s", n->console.agent);
	else
		result_blame(n->ret, class, "%s (%.0f s)", why, after_s);
}

static void blame_not_up(struct netboot *n)
{
	const unsigned both = NETBOOT_KERNEL | NETBOOT_INITRD;

	if (n->events & NETBOOT_FAILED)
		result_blame(n->ret, LAB_NET, "the machine could not load its %s",
			     n->events & NETBOOT_KERNEL ? "initramfs" : "kernel");
	else if ((n->events & both) != both)
		result_blame(n->ret, LAB_NET,
			     "the machine asked for its script, but never for its %s",
			     n->events & NETBOOT_KERNEL ? "initramfs" : "kernel");
	else if (n->events & NETBOOT_STREAM)
		netboot_blame(n, LAB_AGENT, "the agent began to speak, but never said who it is");
	else
		netboot_blame(n, LAB_BOOT_HANG, "the agent did not speak within the boot deadline");
}

static void blame_loop(struct netboot *n)
{
	const char *panic = n->console.signs[CONSOLE_PANIC];

	if (n->events & NETBOOT_FAILED || !(n->events & NETBOOT_KERNEL))
		blame_not_up(n);
	else if (panic || n->console.signs[CONSOLE_OOPS])
		netboot_blame(n, LAB_BOOT_PANIC, "");
	else
		result_blame(n->ret, LAB_BOOT_LOOP,
			     "the machine booted %u times, and no agent spoke", netboot_scripts(n));
}

bool netboot_limit_passed(struct netboot *n, bool *ret_again)
{
	double now = driver_now_s();
	bool up = n->session.hello_seen;

	if (netboot_is_cancelled(n))
		result_blame(n->ret, LAB_CANCELLED, "cancelled");
	else if (now > netboot_total_end_s(n))
		netboot_blame(n, up ? LAB_BENCH_TIMEOUT : LAB_BOOT_HANG,
			      "not done within the total time");
	else if (n->stop_at_s && now > n->stop_at_s && !n->session.over)
		netboot_blame(n, up ? LAB_OOPS : LAB_BOOT_PANIC, "the kernel stopped");
	else if (n->away_s)
		return false;
	else if (!up && !n->script_s && now > n->on_s + n->lost_s + first_limit_s(n))
		*ret_again = true;
	else if (!up && netboot_scripts(n) >= LOOP_BOOTS)
		blame_loop(n);
	else if (!up && n->script_s && now > n->script_s + n->lost_s + boot_limit_s(n))
		blame_not_up(n);
	else if (up && !n->session.over && netboot_scripts(n) > n->scripts_hello)
		netboot_blame(n, LAB_OOPS, "the machine started again during the job");
	else if (up && !n->session.over &&
		 now > n->heard_s + driver_timeout_s(n->m->silence_timeout_s, SILENCE_S))
		netboot_blame(n, LAB_HANG, "the machine gave no sign of life");
	else
		return false;
	return true;
}

void netboot_trouble_blame(struct netboot *n)
{
	enum lab_class class = n->trouble == CONSOLE_OOPS ? LAB_OOPS : LAB_OOM;
	const char *line = n->console.signs[n->trouble];

	if (n->trouble == CONSOLE_NONE || !line || !n->session.hello_seen)
		return;
	if (n->ret->class == LAB_BENCH_ERROR || n->ret->class == LAB_BENCH_TIMEOUT) {
		free(n->ret->detail);
		n->ret->detail = NULL;
		n->ret->class = LAB_OK;
	}
	result_blame(n->ret, class, "%s", line);
	for (size_t i = 0; i < n->ret->nruns; i++) {
		free(n->ret->runs[i].detail);
		n->ret->runs[i].class = class;
		n->ret->runs[i].detail = xstrdup(line);
	}
}
