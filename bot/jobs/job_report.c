/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write the mail about a regression whose commit was found: once, into the outbox. */
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/fix_claims.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/report_json.h"
#include "bot/jobs/report_layout.h"
#include "bot/mail/compose.h"
#include "bot/store/comparison.h"
#include "bot/store/outbox.h"
#include "bot/store/tree.h"

#include <math.h>
#include <string.h>
#include <time.h>

struct report {
	struct job_ctx *c;
	const char *regression;
	struct compose_mail *mail;
	const struct compose_input *input;
	bool held;
	struct strbuf
		why_held; /* what a person has to look at; "" when only the tree asks for that */
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
	else if (r > 0 && p->why_held.len)
		r = regression_state(db, p->regression, "confirmed", "confirmed", "kperfbot",
				     p->why_held.s, e);
	FAILPOINT("report.before_commit");
	return r < 0 ? r : job_finish(p->c, e);
}

/* Does the newest head of the branch still have it? From what was measured anyway. */
static int newest_head(struct job_ctx *c, const struct regression *reg, struct strbuf *out,
		       struct err *e)
{
	struct tree_head *heads;
	struct db_rows rows = { 0 };
	char head[41] = "";
	double rel = NAN;
	size_t n;
	int r;

	r = tree_heads(c->db, reg->tree, &heads, &n, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(heads[i].branch, reg->branch))
			(void)snprintf(head, sizeof(head), "%s", heads[i].commit);
	tree_heads_free(heads, n);
	if (!head[0])
		return 0;
	r = db_run(c->db, SQL_RUN_SIDES, &rows, e, "isss", reg->job, reg->parent, head, NULL);
	if (r < 0)
		return r;
	for (int i = 0; i < rows.n; i++)
		if (!strcmp(db_str(&rows, i, 0), reg->metric) && db_f64(&rows, i, 3) != 0)
			rel = db_f64(&rows, i, 6) / db_f64(&rows, i, 3) - 1;
	db_rows_done(&rows);
	if (isnan(rel))
		strbuf_addf(out, "; the newest head %.12s is not measured", head);
	else
		strbuf_addf(out, "; the newest head %.12s %s %+.1f%%", head,
			    rel / reg->rel >= .5 ? "still shows" : "shows", 100 * rel);
	return 0;
}

/* Seconds since 1970 of a day such as 2030-11-06; -1 if it is none. */
static time_t day_of(const char *date)
{
	struct tm tm = { 0 };

	if (!strptime(date, "%Y-%m-%d", &tm))
		return -1;
	return timegm(&tm);
}

/* Nobody wants to hear of what was released long ago before a person has looked. */
static int check_age(struct report *p, const struct regression *reg, time_t now, struct err *e)
{
	double limit = config_f64(p->c->config, "report", NULL, "max-age");
	_cleanup_(commit_done) struct commit commit = { 0 };
	double age;
	time_t day;
	int r;

	if (limit <= 0)
		return 0;
	r = commit_get(p->c->db, reg->culprit, &commit, e);
	if (r < 0)
		return r;
	day = day_of(commit.date);
	age = day < 0 ? 0 : difftime(now, day);
	if (age <= limit)
		return 0;
	p->held = true;
	strbuf_addstr(&p->why_held, p->why_held.len ? "; " : "");
	if (age < 60 * 86400.)
		strbuf_addf(&p->why_held, "commit is %.0f days old", floor(age / 86400));
	else
		strbuf_addf(&p->why_held, "commit is %.0f months old",
			    floor(age / (30.44 * 86400)));
	return newest_head(p->c, reg, &p->why_held, e);
}

/* Who may be written to at once: the tree's gate, and what the mail itself must fulfil. */
static int apply_gate(struct report *p, const struct regression *reg, const char *gate, time_t now,
		      struct err *e)
{
	struct err why = { 0 };
	int r;

	p->held = !strcmp(gate, "moderated");
	if (compose_gate(p->input, &why) < 0) {
		p->held = true;
		strbuf_addstr(&p->why_held, why.msg);
	}
	r = check_age(p, reg, now, e);
	if (r < 0)
		return r;
	if (p->why_held.len) {
		_cleanup_(freep) char *text = strbuf_take(&p->why_held);

		strbuf_addf(&p->why_held, "mail is held: %s", text);
	}
	if (p->held)
		log_info("report is held for a moderator", lf_str("REGRESSION_ID", p->regression),
			 lf_str("ERROR",
				p->why_held.len ? p->why_held.s : "the tree's mail is moderated"));
	return 0;
}

static int compose_and_store(struct job_ctx *c, const struct regression *reg, const char *gate,
			     const json_t *json, time_t now, struct err *e)
{
	_cleanup_(compose_input_done) struct compose_input input = { 0 };
	_cleanup_(compose_mail_done) struct compose_mail mail = { 0 };
	struct report p = { .c = c, .regression = reg->id, .mail = &mail, .input = &input };
	int r;

	r = compose_input_from_json(json, &input, e);
	if (r == 0)
		r = compose_report(&input, &mail, e);
	if (r < 0)
		return err_wrap(e, "report about %s", reg->id);
	r = apply_gate(&p, reg, gate, now, e);
	if (r == 0)
		r = db_tx(c->db, store_report, &p, e);
	if (r >= 0)
		log_info("report written", lf_str("REGRESSION_ID", reg->id),
			 lf_i64("COUNT", mail.rcpts.len));
	strbuf_done(&p.why_held);
	return r;
}

/* A report that cannot say whether a fix is there is better than none. */
static void look_for_fixes(struct job_ctx *c, const struct regression *reg)
{
	struct err e = { 0 };

	if (!strcmp(reg->state, "confirmed") && reg->culprit[0] &&
	    fix_claims_look(c, reg->tree, reg->branch, reg->id, false, &e) < 0)
		log_warn("could not look for fixes of a culprit, going on without",
			 lf_str("REGRESSION_ID", reg->id), lf_err(e));
}

int job_report(struct job_ctx *c, struct err *e)
{
	const char *id = json_str(c->payload, "regression", "");
	_cleanup_(regression_done) struct regression reg = { 0 };
	_cleanup_(json_decrefp) json_t *json = NULL;
	time_t now = (time_t)(clock_realtime() / USEC_PER_SEC);
	struct report_layout layout;
	const char *gate;
	int r;

	r = regression_get(c->db, id, &reg, e);
	if (r < 0)
		return r;
	look_for_fixes(c, &reg);
	gate = config_has(c->config, "tree", reg.tree)
		       ? config_str(c->config, "tree", reg.tree, "mail")
		       : "off";
	if (strcmp(reg.state, "confirmed") != 0 || !reg.culprit[0] || !strcmp(gate, "off"))
		return job_finish(c, e);
	r = report_layout(c, &reg, &layout, e);
	if (r < 0 || layout.ended)
		return r;
	r = report_json(c, &reg, (uint64_t)now, &json, e);
	if (r == 0 && layout.check) {
		if (!json_object_get(json, "checks"))
			(void)json_object_set_new(json, "checks", json_array());
		(void)json_array_append(json_object_get(json, "checks"), layout.check);
	}
	json_decref(layout.check);
	return r < 0 ? r : compose_and_store(c, &reg, gate, json, now, e);
}
