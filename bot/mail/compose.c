/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/compose.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/mail/address.h"
#include "bot/mail/compose_text.h"
#include "bot/mail/text.h"
#include "bot/mail/wire.h"

#include <gmime/gmime.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define SUBJECT_CHARS  200
#define REFERENCES_MAX 10
#define SHRINK_MAX     4

void compose_setup(void)
{
	g_mime_init();
}

/* ID-N.YYYYMMDD@host: made of the input alone, so a mail that is sent again has the same one. */
static char *message_id_dup(const struct compose_input *in)
{
	time_t t = (time_t)in->at;
	struct tm tm = { 0 };

	(void)gmtime_r(&t, &tm);
	return xasprintf("%s-%lld.%04d%02d%02d@%s", in->id, (long long)in->seq, tm.tm_year + 1900,
			 tm.tm_mon + 1, tm.tm_mday, in->host);
}

/* "mm/demo" of "mm/demo: take the lock"; 0 if the title has no such prefix. */
static size_t subsystem_len(const char *title)
{
	size_t n = strcspn(title, ":");

	return title[n] == ':' && n && n <= 30 && !memchr(title, ' ', n) ? n : 0;
}

static char *subject_dup(const struct compose_input *in)
{
	const struct compose_change *c = &in->headline.change;
	size_t sub = subsystem_len(in->culprit.title);
	struct strbuf b = STRBUF_INIT;
	char pct[COMPOSE_NUMBER], *ret;

	if (in->reply_to_subject) {
		const char *s = in->reply_to_subject;

		while (!strncasecmp(s, "Re:", 3))
			s += 3 + strspn(s + 3, " ");
		strbuf_addf(&b, "Re: %s", s);
	} else {
		strbuf_addf(&b, "[%s%s%s] ", in->tree, in->branch ? ":" : "",
			    in->branch ? in->branch : "");
		if (sub)
			strbuf_addf(&b, "[%.*s] ", (int)sub, in->culprit.title);
		strbuf_addf(&b, "%.12s: %s %s regression", in->culprit.commit, in->metric,
			    compose_pct(pct, c->rel, 1, true));
	}
	ret = text_clean_dup(b.s, b.len, SUBJECT_CHARS);
	strbuf_done(&b);
	return ret;
}

static void add_mailboxes(struct strbuf *out, const struct compose_input *in, bool to)
{
	struct strbuf b = STRBUF_INIT;

	vec_foreach (r, &in->recipients) {
		if (r->to != to)
			continue;
		if (b.len)
			strbuf_addstr(&b, ", ");
		wire_mailbox(&b, r->name, r->addr);
	}
	if (b.len)
		wire_header(out, to ? "To" : "Cc", b.s);
	else if (to)
		wire_header(out, "To", "undisclosed-recipients:;");
	strbuf_done(&b);
}

static void add_thread(struct strbuf *out, const struct compose_input *in)
{
	struct strbuf b = STRBUF_INIT;
	size_t n = in->references.len;

	if (!in->reply_to_id)
		return;
	strbuf_addf(&b, "<%s>", in->reply_to_id);
	wire_header(out, "In-Reply-To", b.s);
	strbuf_reset(&b);
	/* the first and the last ones keep a thread together */
	for (size_t i = 0; i < n; i++) {
		if ((i == 0 || i + REFERENCES_MAX > n) &&
		    strcmp(in->references.items[i], in->reply_to_id) != 0)
			strbuf_addf(&b, "<%s> ", in->references.items[i]);
	}
	strbuf_addf(&b, "<%s>", in->reply_to_id);
	wire_header(out, "References", b.s);
	strbuf_done(&b);
}

static void add_headers(struct strbuf *out, const struct compose_input *in, const char *kind,
			const char *subject, const char *message_id)
{
	struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b, "kperfbot <kperfbot+%s@%s>", in->id, in->host);
	wire_header(out, "From", b.s);
	add_mailboxes(out, in, true);
	add_mailboxes(out, in, false);
	wire_header_text(out, "Subject", subject);
	strbuf_reset(&b);
	wire_date(&b, in->at);
	wire_header(out, "Date", b.s);
	strbuf_reset(&b);
	strbuf_addf(&b, "<%s>", message_id);
	wire_header(out, "Message-ID", b.s);
	add_thread(out, in);
	wire_header(out, "Auto-Submitted", "auto-generated");
	strbuf_reset(&b);
	/* Where no program reads answers, a person must. */
	if (in->replies || !in->contact)
		strbuf_addf(&b, "<mailto:kperfbot+stop@%s?subject=stop>", in->host);
	else
		strbuf_addf(&b, "<mailto:%s?subject=stop>", in->contact);
	wire_header(out, "List-Unsubscribe", b.s);
	wire_header(out, "X-Kperfbot-Id", in->id);
	wire_header(out, "X-Kperfbot-Kind", kind);
	strbuf_done(&b);
}

static void write_report(const struct compose_input *in, const char *message_id, int shrink,
			 struct strbuf *out)
{
	const struct compose_text t = { in, out, shrink };

	strbuf_addstr(out, "Hello,\n\n");
	compose_add_lead(&t);
	compose_add_facts(&t);
	compose_add_table(&t);
	compose_add_also(&t);
	compose_add_checks(&t);
	compose_add_bisection(&t);
	compose_add_reproduce(&t);
	compose_add_tags(&t, message_id);
	compose_add_footer(&t);
}

static size_t count_lines(const struct strbuf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->s[i] == '\n';
	return n;
}

static int check_change(const struct compose_input *in, struct err *e)
{
	const struct compose_change *c = &in->headline.change;

	if (c->rel == 0.0)
		return err_set(e, ERR_INVAL,
			       "report %s: effect.rel is 0, there is no change to report", in->id);
	if ((in->better == COMPOSE_BETTER_HIGHER && c->rel > 0) ||
	    (in->better == COMPOSE_BETTER_LOWER && c->rel < 0))
		return err_set(
			e, ERR_INVAL,
			"report %s: %s %s by %.1f%%, an improvement; only regressions are reported",
			in->id, in->metric, c->rel < 0 ? "fell" : "rose", fabs(c->rel) * 100);
	return 0;
}

int compose_report(const struct compose_input *in, struct compose_mail *ret, struct err *e)
{
	_cleanup_(freep) char *message_id = message_id_dup(in);
	struct strbuf text = STRBUF_INIT, mail = STRBUF_INIT;
	struct compose_mail m = { 0 };
	bool fits = false;
	int r = check_change(in, e);

	if (r < 0)
		return r;
	for (int shrink = 0; shrink <= SHRINK_MAX; shrink++) {
		strbuf_reset(&text);
		write_report(in, message_id, shrink, &text);
		fits = text.len <= COMPOSE_MAX_BYTES && count_lines(&text) <= COMPOSE_MAX_LINES;
		if (fits)
			break;
	}
	if (!fits) {
		strbuf_done(&text);
		return err_set(e, ERR_TOO_BIG, "report %s does not fit into %d lines and %d bytes",
			       in->id, COMPOSE_MAX_LINES, COMPOSE_MAX_BYTES);
	}
	m.subject = subject_dup(in);
	add_headers(&mail, in, "report", m.subject, message_id);
	wire_body(&mail, text.s, text.len);
	strbuf_done(&text);
	r = wire_check(mail.s, mail.len, e);
	if (r < 0) {
		free(m.subject);
		strbuf_done(&mail);
		return r;
	}
	m.len = mail.len;
	m.bytes = strbuf_take(&mail);
	m.message_id = take_ptr(message_id);
	m.from = xasprintf("kperfbot+%s@%s", in->id, in->host);
	vec_foreach (rcpt, &in->recipients) {
		bool seen = false;

		vec_foreach (other, &m.rcpts)
			seen = seen || address_equal(*other, rcpt->addr);
		if (!seen)
			vec_push(&m.rcpts, xstrdup(rcpt->addr));
	}
	*ret = m;
	return 0;
}

int compose_kind(const char *kind, const struct compose_input *in, struct compose_mail *ret,
		 struct err *e)
{
	static const char *const planned[] = { "fixed", "retract", "digest" };

	if (!strcmp(kind, "report"))
		return compose_report(in, ret, e);
	for (size_t i = 0; i < ARRAY_SIZE(planned); i++) {
		if (!strcmp(kind, planned[i]))
			return err_set(e, ERR_UNSUPPORTED,
				       "mails of kind '%s' cannot be written, only 'report' can",
				       kind);
	}
	return err_set(e, ERR_INVAL, "mail kind '%.80s' is unknown, say 'report'", kind);
}

bool compose_is_box_check(const struct compose_check *c)
{
	return !strcmp(c->name, "aa") || !strcmp(c->name, "again") || !strcmp(c->name, "bb");
}

bool compose_is_layout_check(const struct compose_check *c)
{
	return !strcmp(c->name, "align64") || !strcmp(c->name, "align");
}

int compose_gate(const struct compose_input *in, struct err *e)
{
	const struct compose_change *c = &in->headline.change;
	int r = check_change(in, e);

	if (r < 0)
		return r;
	if (isnan(in->culprit.p) || in->culprit.p < 0.9)
		return err_set(e, ERR_PERM, "report %s: P of the culprit is %.3f, below 0.9",
			       in->id, isnan(in->culprit.p) ? 0 : in->culprit.p);
	if (isnan(c->lo) || (c->lo <= 0 && c->hi >= 0))
		return err_set(e, ERR_PERM, "report %s: the interval of the change is %s", in->id,
			       isnan(c->lo) ? "not known" : "not clear of zero");
	vec_foreach (k, &in->checks) {
		if (compose_is_box_check(k) && k->ok == 0)
			return err_set(e, ERR_PERM, "report %s: machine %s drifts", in->id,
				       in->machine);
		if (compose_is_layout_check(k) && k->ok == 0 && k->text)
			return err_set(
				e, ERR_PERM,
				"report %s: code layout may be the cause; kernels with aligned "
				"functions: %s",
				in->id, k->text);
		if (compose_is_layout_check(k) && k->ok == 0)
			return err_set(e, ERR_PERM,
				       "report %s: code layout may be the cause; with aligned "
				       "functions the change is %+.1f%%",
				       in->id, k->change.rel * 100);
	}
	if (!in->recipients.len)
		return err_set(e, ERR_PERM, "report %s: there is nobody to send it to", in->id);
	return 0;
}

void compose_mail_done(struct compose_mail *m)
{
	if (!m)
		return;
	free(m->bytes);
	free(m->message_id);
	free(m->subject);
	free(m->from);
	vec_foreach (s, &m->rcpts)
		free(*s);
	vec_done(&m->rcpts);
	*m = (struct compose_mail){ 0 };
}
