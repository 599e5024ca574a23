/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors: negative codes from one table, and a one-line reason in the caller's struct err. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

enum err_code {
	ERR_OK = 0,
#define ERR_CODE(name, text, transient, http) ERR_NEG_##name,
#include "bot/base/err_codes.def"
#undef ERR_CODE
	ERR_CODE_COUNT
};

/* The values that functions return: ERR_INVAL = -1 and so on, in the order of err_codes.def. */
enum {
#define ERR_CODE(name, text, transient, http) ERR_##name = -(int)ERR_NEG_##name,
#include "bot/base/err_codes.def"
#undef ERR_CODE
};

/**
 * struct err - why a call failed.
 * @code: 0 or a negative ERR_ value.
 * @msg: one line without period or line break, at most 1023 bytes; "" when @code is 0.
 *
 * Caller-owned, `struct err e = { 0 };`. Everywhere a `struct err *` may be NULL.
 */
struct err {
	int code;
	char msg[1024];
};

/**
 * err_set() - record a reason and return its code.
 * @e: filled; may be NULL.
 * @code: negative ERR_ value.
 * @fmt: printf format of one lower-case line without period that names the bad value.
 *
 * Control bytes and bytes that are not UTF-8 are replaced by '?': hostile text cannot forge log
 * lines, and each reason can be stored and sent as JSON.
 * Return: @code, so that `return err_set(…)` is one statement.
 */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** err_vset() - err_set() with the arguments of @fmt in @ap. */
int err_vset(struct err *e, int code, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

/**
 * err_wrap() - put context in front of the reason: "CONTEXT: REASON".
 * Return: the code that @e holds, ERR_BUG if it holds none; when @e is NULL, ERR_BUG.
 */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** err_errno() - err_set() with ": strerror(errnum)" at the end; code from errnum (IO, NOENT, …). */
int err_errno(struct err *e, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** err_clear() - forget the reason. */
void err_clear(struct err *e);

/** err_name() - "NOENT" for ERR_NOENT; "OK" for 0; "UNKNOWN" otherwise. Static string. */
const char *err_name(int code);

/** err_text() - short text of the code. Static string. */
const char *err_text(int code);

/** err_is_transient() - would the same call perhaps work later? */
bool err_is_transient(int code);

/** err_http_status() - the HTTP status that stands for this code; 500 if unknown. */
int err_http_status(int code);

#ifdef __clang_analyzer__
/* The analyser cannot look into err.c; so that it can tell failure from success, it is told here. */
static inline int err_negative(int code)
{
	if (code >= 0)
		__builtin_unreachable();
	return code;
}
#define err_set(...)   err_negative(err_set(__VA_ARGS__))
#define err_vset(...)  err_negative(err_vset(__VA_ARGS__))
#define err_wrap(...)  err_negative(err_wrap(__VA_ARGS__))
#define err_errno(...) err_negative(err_errno(__VA_ARGS__))
#endif
