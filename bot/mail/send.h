/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One SMTP transaction: one mail to one address. */
#pragma once

#include <stddef.h>

struct err;

enum mail_tls {
	MAIL_TLS_REQUIRED,
	MAIL_TLS_NONE_ON_LOOPBACK,
};

/**
 * struct mail_server - where mail is handed over; borrowed strings.
 * @url: "smtp://host:port" (STARTTLS) or "smtps://host:port"; no user, path or query.
 * @user, @password_file: for AUTH; both NULL for none. The password is the first line of the file.
 * @ca_file: certificates to trust, PEM; NULL: those of the system.
 * @tls: MAIL_TLS_NONE_ON_LOOPBACK sends clear text, and only to 127.0.0.0/8, ::1 and localhost.
 * @connect_timeout_s, @total_timeout_s: seconds; 0: 30 and 300.
 */
struct mail_server {
	const char *url;
	const char *user;
	const char *password_file;
	const char *ca_file;
	enum mail_tls tls;
	long connect_timeout_s;
	long total_timeout_s;
};

/**
 * enum mail_class - what became of the mail, by the server's last answer.
 * @MAIL_SENT: 2xx after the text.
 * @MAIL_DEFERRED: 4xx, or the connection ended before all bytes were read: try again later.
 * @MAIL_DEAD: 5xx to sender, recipient or text: never for this recipient.
 * @MAIL_UNSURE: all bytes were read but no answer came: it may have been taken. Send again once.
 * @MAIL_HOLD: no TLS, a bad certificate, a refused login, a server that refuses us before any
 *             address was named: nothing about this mail. Stop the queue and tell a person.
 */
enum mail_class {
	MAIL_SENT,
	MAIL_DEFERRED,
	MAIL_DEAD,
	MAIL_UNSURE,
	MAIL_HOLD,
};

/**
 * struct mail_outcome - @code: last SMTP reply, 0 if there was none. @text: that reply, or why there
 * was none; one line of ASCII.
 */
struct mail_outcome {
	enum mail_class class;
	int code;
	char text[256];
};

/** mail_class_name() - "sent", "deferred", "dead", "unsure", "hold". Static string. */
const char *mail_class_name(enum mail_class c);

/** mail_send_setup() - start libcurl; call once from main(), before threads. */
int mail_send_setup(struct err *e);

/** mail_server_check() - is this a server that mail_send() would talk to? For the config check. */
int mail_server_check(const struct mail_server *server, struct err *e);

/**
 * mail_send() - hand @bytes to @server for @rcpt.
 * @from: envelope sender; its host is also our EHLO name.
 * @bytes: as wire_check() wants them; the same for every recipient.
 * @ret: filled when 0 is returned.
 *
 * Blocks up to the total timeout and 2 s for the answer to QUIT. Dots are doubled by libcurl, which is right for CR LF lines. No
 * proxy, .netrc or environment has a say.
 * Return: 0 with an outcome; ERR_INVAL for an address or text that may not be sent; ERR_CONFIG for
 * @server; ERR_BUG if libcurl cannot be set up. Nothing was sent in these cases.
 */
int mail_send(const struct mail_server *server, const char *from, const char *rcpt,
	      const void *bytes, size_t len, struct mail_outcome *ret, struct err *e);
