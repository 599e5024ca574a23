/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write the mail about a regression whose commit was found: once, into the outbox. */
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/report_json.h"
#include "bot/mail/compose.h"
#include "bot/store/comparison.h"
#include "bot/store/outbox.h"

#include <string.h>

struct report {
	struct job_ctx *c;
	const char *regression;
	struct compose_mail *mail;
	const struct compose_input *input;
	bool held;
	const char *why_held;
};

static const char *reason_of(const struct compose_input *in, const char *addr)
{
	vec_foreach (r, &in->recipients)
		if (!strcmp(r->addr, addr))
			return r->reason ? r->reason : "";
	return "";
}

static int store_report(struct db *db, void *arg, struct err *e)
{
	struct report *p = arg;
	_cleanup_(freep) struct outbox_rcpt *rcpts = xcalloc(p->mail->rcpts.len, sizeof(*rcpts));
	int r;

	for (size_t i = 0; i < p->mail->rcpts.len; i++)
		rcpts[i] = (struct outbox_rcpt){ p->mail->rcpts.items[i],
						 reason_of(p->input, p->mail->rcpts.items[i]) };
	r = outbox_add(db, p->regression, "report", 1, p->mail->message_id, p->mail->subject,
		       p->mail->bytes, p->mail->len, rcpts, p->mail->rcpts.len, p->held, e);
	if (r > 0 && !p->held)
		r = regression_state(db, p->regression, "confirmed", "reported", "kperfbot",
				     "mail written", e);
	FAILPOINT("report.before_commit");
	return r < 0 ? r : job_finish(p->c, e);
}

/* Who may be written to at once: the tree's gate, and what the mail itself must fulfil. */
static void apply_gate(struct report *p, const char *gate)
{
	static struct err why;

	if (!strcmp(gate, "moderated")) {
		p->held = true;
		p->why_held = "the tree's mail is moderated";
	} else if (compose_gate(p->input, &why) < 0) {
		p->held = true;
		p->why_held = why.msg;
	}
	if (p->held)
		log_info("report is held for a moderator", lf_str("REGRESSION_ID", p->regression),
			 lf_str("ERROR", p->why_held));
}

static int compose_and_store(struct job_ctx *c, const char *id, const char *gate,
			     const json_t *json, struct err *e)
{
	_cleanup_(compose_input_done) struct compose_input input = { 0 };
	_cleanup_(compose_mail_done) struct compose_mail mail = { 0 };
	struct report p = { .c = c, .regression = id, .mail = &mail, .input = &input };
	int r;

	r = compose_input_from_json(json, &input, e);
	if (r == 0)
		r = compose_report(&input, &mail, e);
	if (r < 0)
		return err_wrap(e, "report about %s", id);
	apply_gate(&p, gate);
	r = db_tx(c->db, store_report, &p, e);
	if (r >= 0)
		log_info("report written", lf_str("REGRESSION_ID", id),
			 lf_i64("COUNT", mail.rcpts.len));
	return r;
}

int job_report(struct job_ctx *c, struct err *e)
{
	const char *id = json_str(c->payload, "regression", "");
	_cleanup_(regression_done) struct regression reg = { 0 };
	_cleanup_(json_decrefp) json_t *json = NULL;
	const char *gate;
	int r;

	r = regression_get(c->db, id, &reg, e);
	if (r < 0)
		return r;
	gate = config_has(c->config, "tree", reg.tree)
		       ? config_str(c->config, "tree", reg.tree, "mail")
		       : "off";
	if (strcmp(reg.state, "confirmed") != 0 || !reg.culprit[0] || !strcmp(gate, "off"))
		return job_finish(c, e);
	r = report_json(c, &reg, clock_realtime() / USEC_PER_SEC, &json, e);
	return r < 0 ? r : compose_and_store(c, id, gate, json, e);
}
