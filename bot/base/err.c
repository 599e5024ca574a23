/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"

#include "bot/base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Not what the analyser is told about them, but they themselves. */
#undef err_set
#undef err_vset
#undef err_wrap
#undef err_errno

static const struct {
	const char *name;
	const char *text;
	bool transient;
	int http;
} codes[ERR_CODE_COUNT] = {
	[ERR_OK] = { "OK", "no error", false, 200 },
#define ERR_CODE(n, t, tr, h) [ERR_NEG_##n] = { #n, t, tr, h },
#include "bot/base/err_codes.def"
#undef ERR_CODE
};

static void clean(char *s)
{
	size_t len = strlen(s);

	while (len) {
		size_t n = utf8_length(s, len);

		if (n == 0 || (unsigned char)*s < 0x20 || *s == 0x7f) {
			*s = '?';
			n = 1;
		}
		s += n;
		len -= n;
	}
}

int err_vset(struct err *e, int code, const char *fmt, va_list ap)
{
	if (!e)
		return code;
	e->code = code;
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	clean(e->msg);
	return code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)err_vset(e, code, fmt, ap);
	va_end(ap);
	return code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char reason[sizeof(e->msg)];
	va_list ap;
	size_t used;

	if (!e)
		return ERR_BUG;
	if (e->code == 0)
		e->code = ERR_BUG;
	memcpy(reason, e->msg, sizeof(reason));
	va_start(ap, fmt);
	(void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	used = strlen(e->msg);
	(void)snprintf(e->msg + used, sizeof(e->msg) - used, ": %s", reason);
	clean(e->msg);
	return e->code;
}

static int code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return ERR_NOENT;
	case EEXIST:
		return ERR_EXIST;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERR_PERM;
	case ENOMEM:
		return ERR_NOMEM;
	case ENOSPC:
	case EDQUOT:
		return ERR_NOSPACE;
	case EINVAL:
	case EISDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return ERR_INVAL;
	default:
		return ERR_IO;
	}
}

int err_errno(struct err *e, int errnum, const char *fmt, ...)
{
	int code = code_of_errno(errnum);
	const char *text = strerrordesc_np(errnum);
	va_list ap;
	size_t used;

	if (!e)
		return code;
	va_start(ap, fmt);
	(void)err_vset(e, code, fmt, ap);
	va_end(ap);
	used = strlen(e->msg);
	(void)snprintf(e->msg + used, sizeof(e->msg) - used, ": %s", text ? text : "unknown error");
	clean(e->msg);
	return code;
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	e->code = 0;
	e->msg[0] = '\0';
}

static int index_of(int code)
{
	return code <= 0 && code > -ERR_CODE_COUNT ? -code : -1;
}

const char *err_name(int code)
{
	int i = index_of(code);

	return i < 0 ? "UNKNOWN" : codes[i].name;
}

const char *err_text(int code)
{
	int i = index_of(code);

	return i < 0 ? "unknown error" : codes[i].text;
}

bool err_is_transient(int code)
{
	int i = index_of(code);

	return i > 0 && codes[i].transient;
}

int err_http_status(int code)
{
	int i = index_of(code);

	return i < 0 ? 500 : codes[i].http;
}
