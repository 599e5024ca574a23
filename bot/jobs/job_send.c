/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hand one mail to one recipient. The row is in state sending while the server has the word; if we
 * die then, nobody knows whether the server took the mail, and it is sent once more with the same
 * Message-ID.
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/mail/send.h"
#include "bot/store/outbox.h"

#include <math.h>
#include <string.h>

#define GIVE_UP_S (5 * 86400.0)
#define HOLD_S	  900

struct sending {
	struct job_ctx *c;
	int64_t outbox;
	const char *addr;
	struct mail_outcome outcome;
	const char *state;
	double again_s; /* 0: ended */
};

static int store_outcome(struct db *db, void *arg, struct err *e)
{
	struct sending *s = arg;
	int r;

	r = outbox_outcome(db, s->outbox, s->addr, s->state, s->outcome.code, s->outcome.text,
			   s->again_s, e);
	FAILPOINT("send.before_commit");
	if (r < 0)
		return r;
	if (s->again_s > 0)
		return work_reschedule(db, s->c->work->id, s->c->work->fence, s->again_s,
				       s->outcome.text, e);
	return job_finish(s->c, e);
}

/* 5 minutes, doubling to 4 hours, for 5 days. */
static void defer(struct sending *s, const struct outbox_mail *mail)
{
	s->state = "deferred";
	s->again_s = fmin(4 * 3600.0, ldexp(300, mail->attempts > 10 ? 10 : mail->attempts - 1));
	if (mail->since_s > GIVE_UP_S) {
		s->state = "dead";
		s->again_s = 0;
	}
}

static void classify(struct sending *s, const struct outbox_mail *mail)
{
	switch (s->outcome.class) {
	case MAIL_SENT:
		s->state = "sent";
		break;
	case MAIL_DEAD:
		s->state = "dead";
		break;
	case MAIL_DEFERRED:
		defer(s, mail);
		break;
	case MAIL_UNSURE:
		/* Once more; if that is unsure too, it stays so, and a person sees it. */
		s->state = "unsure";
		s->again_s = !strcmp(mail->was, "unsure") || !strcmp(mail->was, "sending") ? 0 : 60;
		break;
	case MAIL_HOLD:
		s->state = "deferred";
		s->again_s = HOLD_S;
		log_error("mail is held back: the server does not take mail from us",
			  lf_str("ERROR", s->outcome.text));
		break;
	}
}

static enum mail_tls tls_of(const struct config *cfg)
{
	return !strcmp(config_str(cfg, "mail", NULL, "tls"), "off") ? MAIL_TLS_NONE_ON_LOOPBACK
								    : MAIL_TLS_REQUIRED;
}

static int transact(struct sending *s, const struct outbox_mail *mail, struct err *e)
{
	const struct config *cfg = s->c->config;
	struct mail_server server = { .url = config_str(cfg, "mail", NULL, "server"),
				      .user = config_str(cfg, "mail", NULL, "user"),
				      .password_file =
					      config_str(cfg, "mail", NULL, "password-file"),
				      .tls = tls_of(cfg) };
	_cleanup_(freep) char *from = xasprintf("kperfbot+%s@%s", mail->regression,
						config_str(cfg, "mail", NULL, "host"));
	int r;

	r = mail_send_setup(e);
	return r < 0 ? r
		     : mail_send(&server, from, s->addr, mail->bytes, mail->len, &s->outcome, e);
}

int job_send(struct job_ctx *c, struct err *e)
{
	_cleanup_(outbox_mail_done) struct outbox_mail mail = { 0 };
	struct sending s = { .c = c,
			     .outbox = json_i64(c->payload, "outbox", 0),
			     .addr = json_str(c->payload, "addr", "") };
	int r;

	if (!config_str(c->config, "mail", NULL, "server"))
		return work_reschedule(c->db, c->work->id, c->work->fence, 60,
				       "no mail.server is configured", e);
	r = outbox_begin(c->db, s.outbox, s.addr, &mail, e);
	if (r < 0)
		return r;
	if (r == 0)
		return job_finish(c, e);
	if (!strcmp(mail.was, "sending"))
		log_warn("an earlier try was cut off, sent once more with the same Message-ID",
			 lf_str("ADDRESS", s.addr));
	FAILPOINT("send.begun");
	r = transact(&s, &mail, e);
	if (r == ERR_INVAL) {
		/* An address or text that no server will ever get from us. */
		s.outcome = (struct mail_outcome){ .class = MAIL_DEAD };
		(void)snprintf(s.outcome.text, sizeof(s.outcome.text), "%.250s", e->msg);
		r = 0;
	}
	if (r < 0)
		return r;
	FAILPOINT("send.answered");
	classify(&s, &mail);
	r = db_tx(c->db, store_outcome, &s, e);
	if (r == 0)
		log_info("mail handed over", lf_str("ADDRESS", s.addr), lf_str("STATE", s.state),
			 lf_i64("EXIT_STATUS", s.outcome.code), lf_str("ERROR", s.outcome.text));
	return r;
}
