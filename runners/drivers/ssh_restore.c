/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver "ssh": getting a machine back. */
#include "bot/base/err.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/power.h"
#include "runners/drivers/ssh.h"
#include "runners/drivers/ssh_remote.h"

#include <stdlib.h>
#include <string.h>

#define BOOT_S 120
/* For a machine that goes back to its own system by itself after a panic. */
#define BY_ITSELF_S 30

/* Adds to the result's line; the class stays. */
static void detail_add(struct ssh_machine *s, const char *text)
{
	char *more = xasprintf("%s; %s", s->ret->detail ? s->ret->detail : "", text);

	free(s->ret->detail);
	s->ret->detail = more;
}

int ssh_power_cycle(struct ssh_machine *s, bool *ret_done, struct err *e)
{
	struct err why = { 0 };
	int r;

	*ret_done = false;
	if (!power_exists(&s->m->power))
		return 0;
	driver_progress(s->q, LAB_STATE_RESETTING);
	r = power_cycle(&s->m->power, s->q->cancel, &why);
	if (r == 0) {
		s->ret->power_cycles++;
		*ret_done = true;
		return 0;
	}
	if (r == ERR_LEASE_LOST) {
		if (e)
			*e = why;
		return r;
	}
	if (r == ERR_CANCELLED)
		return 0;
	/* Whom to blame for the boot is one thing; a machine without power control is another. */
	if (s->ret->class == LAB_NET) {
		free(s->ret->detail);
		s->ret->detail = NULL;
		s->ret->class = LAB_OK;
	}
	if (s->ret->class == LAB_OK)
		result_blame(s->ret, LAB_POWER, "%s", why.msg);
	else
		detail_add(s, why.msg);
	return 0;
}

/*
 * @ret_id: the boot id of who answers now, to be freed; NULL: nobody.
 * @ret_ours: it is the kernel that this call started.
 */
static int probe(struct ssh_machine *s, char **ret_id, bool *ret_ours, struct err *e)
{
	_cleanup_(ssh_answer_done) struct ssh_answer a = { 0 };
	_cleanup_(freep) char *script = ssh_script_probe();
	const struct ssh_call c = {
		.ssh = &s->m->ssh,
		.script = script,
		.stdin_fd = -1,
		.deadline_s = 15,
		.connect_s = 5,
		.tick = ssh_tick,
		.arg = s,
	};
	_cleanup_(freep) char *nonce = NULL;
	int r = ssh_call(&c, &a, e);

	nonce = ssh_answer_word(&a, "nonce");
	*ret_ours = nonce && !strcmp(nonce, s->q->nonce);
	*ret_id = r == 0 && a.end == SSH_EXITED && a.status == 0 ? ssh_answer_word(&a, "boot_id")
								 : NULL;
	return r;
}

int ssh_wait_back(struct ssh_machine *s, const char *not_boot_id, double end_s, bool *ret,
		  struct err *e)
{
	*ret = false;
	while (!*ret && driver_now_s() < end_s && !(s->q->cancel && *s->q->cancel)) {
		_cleanup_(freep) char *id = NULL;
		bool ours;
		int r = probe(s, &id, &ours, e);

		if (r < 0)
			return r;
		*ret = id && strcmp(id, not_boot_id) != 0;
		/* A panic that is known does not make this wait any shorter. */
		if (!*ret)
			(void)usleep(500000);
	}
	return 0;
}

static int reboot_by_ssh(struct ssh_machine *s, struct err *e)
{
	_cleanup_(ssh_answer_done) struct ssh_answer a = { 0 };
	_cleanup_(freep) char *script = ssh_script_reboot();
	const struct ssh_call c = {
		.ssh = &s->m->ssh,
		.script = script,
		.stdin_fd = -1,
		.deadline_s = 15,
		.connect_s = 5,
		.tick = ssh_tick,
		.arg = s,
	};

	return ssh_call(&c, &a, e);
}

/* Is the machine in a state that nobody knows? */
static bool is_needed(const struct ssh_machine *s)
{
	enum lab_class c = s->ret->class;

	if (!s->boots || !s->boot_id || s->start_s <= 0 || s->new_boot_id)
		return false;
	return lab_class_blames_kernel(c) || c == LAB_NET || c == LAB_WRONG_KERNEL ||
	       c == LAB_OOM || c == LAB_DISK || c == LAB_FAULT;
}

int ssh_restore(struct ssh_machine *s, struct err *e)
{
	/* Of the kernel that is not wanted any more; unknown if its agent never spoke. */
	const char *bad = s->ret->boot_id ? s->ret->boot_id : s->boot_id;
	double boot_s = driver_timeout_s(s->m->boot_timeout_s, BOOT_S);
	_cleanup_(freep) char *id = NULL;
	bool back = false, ours = false;
	int r;

	if (!is_needed(s))
		return 0;
	/* Who reads this should not take a silent console for a silent kernel. */
	if (s->m->console_command && *s->m->console_command && !s->console.head.len)
		detail_add(s, "nothing came from the console");
	driver_progress(s->q, LAB_STATE_RESETTING);
	r = probe(s, &id, &ours, e);
	if (r == 0 && id && !ours && strcmp(id, bad) != 0)
		return 0;
	if (id && ours)
		bad = id;
	if (r == 0 && id)
		r = reboot_by_ssh(s, e);
	/* With a panic it is on its way; a machine that hangs does not come by waiting. */
	if (r == 0 && (id || s->console.signs[CONSOLE_PANIC] || !power_exists(&s->m->power)))
		r = ssh_wait_back(s, bad,
				  driver_now_s() +
					  (power_exists(&s->m->power) && boot_s > BY_ITSELF_S
						   ? BY_ITSELF_S
						   : boot_s),
				  &back, e);
	if (r == 0 && !back) {
		bool done;

		r = ssh_power_cycle(s, &done, e);
		if (r == 0 && done)
			r = ssh_wait_back(s, bad, driver_now_s() + boot_s, &back, e);
	}
	if (r == 0 && !back && !(s->q->cancel && *s->q->cancel))
		detail_add(s, "and the machine has not come back");
	return r;
}
