/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/log.h"

#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define MAX_FIELDS 24

static struct {
	const char *role;
	enum log_level max;
	int journal; /* 0 unknown, 1 yes, -1 no */
} state = { .max = LOG_LEVEL_INFO };

void log_setup(const char *role, enum log_level max)
{
	state.role = role;
	state.max = max;
}

/* JOURNAL_STREAM is "device:inode" of the socket that systemd gave us as stderr. */
static int stderr_is_journal(void)
{
	const char *env = getenv("JOURNAL_STREAM"); /* NOLINT(concurrency-mt-unsafe) */
	unsigned long long dev = 0;
	unsigned long long ino = 0;
	struct stat st;
	char *end;

	if (!env)
		return -1;
	dev = strtoull(env, &end, 10);
	if (*end != ':')
		return -1;
	ino = strtoull(end + 1, NULL, 10);
	if (fstat(STDERR_FILENO, &st) < 0)
		return -1;
	return st.st_dev == dev && st.st_ino == ino ? 1 : -1;
}

#define TEXT_MAX 4096

/* Control characters (also U+0080 to U+009F) and bytes that are not UTF-8 as \xHH. */
static void add_text(struct strbuf *b, const char *s)
{
	size_t len = strnlen(s, TEXT_MAX);

	for (size_t n; len; s += n, len -= n) {
		bool c1;

		n = utf8_length(s, len);
		c1 = n == 2 && s[0] == '\xc2' && (unsigned char)s[1] < 0xa0;
		if (n == 0 || c1 || (unsigned char)*s < 0x20 || *s == 0x7f) {
			strbuf_addf(b, "\\x%02x", (unsigned char)s[c1 ? 1 : 0]);
			n = n ? n : 1;
		} else {
			strbuf_add(b, s, n);
		}
	}
	if (*s)
		strbuf_addstr(b, "…");
}

static void add_value(struct strbuf *b, const struct log_field *f)
{
	switch (f->type) {
	case LOG_FIELD_I64:
		strbuf_addf(b, "%lld", (long long)f->i64);
		break;
	case LOG_FIELD_F64:
		strbuf_addf(b, "%.6g", f->f64);
		break;
	case LOG_FIELD_STR:
		add_text(b, f->str ? f->str : "");
		break;
	}
}

static void to_journal(enum log_level level, const char *msg, const struct log_field *fields)
{
	struct strbuf parts[MAX_FIELDS + 3] = { 0 };
	struct iovec iov[MAX_FIELDS + 3];
	int n = 0;

	strbuf_addf(&parts[n++], "MESSAGE=%s", msg);
	strbuf_addf(&parts[n++], "PRIORITY=%d", level);
	if (state.role)
		strbuf_addf(&parts[n++], "ROLE=%s", state.role);
	for (; fields->name && n < MAX_FIELDS + 3; fields++) {
		strbuf_addf(&parts[n], "%s=", fields->name);
		add_value(&parts[n++], fields);
	}
	for (int i = 0; i < n; i++)
		iov[i] = (struct iovec){ parts[i].s, parts[i].len };
	(void)sd_journal_sendv(iov, n);
	for (int i = 0; i < n; i++)
		strbuf_done(&parts[i]);
}

void log_emit(enum log_level level, const char *msg, const struct log_field *fields)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	if (level > state.max)
		return;
	if (state.journal == 0)
		state.journal = stderr_is_journal();
	if (state.journal > 0) {
		to_journal(level, msg, fields);
		return;
	}
	strbuf_addf(&line, "<%d>", level);
	if (state.role)
		strbuf_addf(&line, "%s: ", state.role);
	strbuf_addstr(&line, msg);
	for (; fields->name; fields++) {
		strbuf_addf(&line, " %s=", fields->name);
		add_value(&line, fields);
	}
	strbuf_addch(&line, '\n');
	/* One write, so that lines of several processes do not mix. */
	(void)!write(STDERR_FILENO, line.s, line.len);
}
