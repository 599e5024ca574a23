/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mails to be sent: frozen bytes and one row per recipient. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct db;
struct err;

/** struct outbox_rcpt - who gets a mail, and why. */
struct outbox_rcpt {
	const char *addr;
	const char *reason;
};

/**
 * outbox_add() - write a mail, once per (regression, kind, seq), with its recipients.
 * @held: recipients wait for a moderator; else sending is queued at once.
 * Return: 1 written, 0 it was there, or an error. In a transaction.
 */
int outbox_add(struct db *db, const char *regression, const char *kind, int seq,
	       const char *message_id, const char *subject, const void *bytes, size_t len,
	       const struct outbox_rcpt *rcpts, size_t n, int held, struct err *e);

/**
 * struct outbox_stored - a mail as it stands in the outbox; free() @bytes.
 * @held, @rcpts: recipients that wait for a moderator, and all of them.
 */
struct outbox_stored {
	int64_t id;
	void *bytes;
	size_t len;
	int held;
	int rcpts;
};

/** outbox_find() - the newest mail of this kind about a regression. ERR_NOENT. */
int outbox_find(struct db *db, const char *regression, const char *kind, struct outbox_stored *ret,
		struct err *e);

/** outbox_release() - queue what was held. Return: recipients let go. In a transaction. */
int outbox_release(struct db *db, int64_t outbox, struct err *e);

/** struct outbox_mail - a mail being sent; outbox_mail_done() frees it. */
struct outbox_mail {
	void *bytes;
	size_t len;
	char was[16];	/* state before: queued, deferred, sending (cut off) or unsure */
	int attempts;	/* this one included */
	double since_s; /* since the first try */
	char regression[9];
};

/** outbox_begin() - state sending. Return: 1, 0 nothing to send, or an error. */
int outbox_begin(struct db *db, int64_t outbox, const char *addr, struct outbox_mail *ret,
		 struct err *e);
void outbox_mail_done(struct outbox_mail *m);

/** outbox_outcome() - @state sent, deferred, dead or unsure; @next_s until the next try. */
int outbox_outcome(struct db *db, int64_t outbox, const char *addr, const char *state, int code,
		   const char *answer, double next_s, struct err *e);
