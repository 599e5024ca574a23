/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/address.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <string.h>

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_atext(char c)
{
	return is_alnum(c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

bool address_domain_check(const char *s, size_t len)
{
	size_t label = 0;

	if (!len || len > 253)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool edge = label == 0 || i + 1 == len || s[i + 1] == '.';

		if (s[i] == '.') {
			if (!label || i + 1 == len)
				return false;
			label = 0;
			continue;
		}
		if (!is_alnum(s[i]) && (s[i] != '-' || edge))
			return false;
		if (++label > 63)
			return false;
	}
	return true;
}

static bool local_check(const char *s, size_t len)
{
	if (!len || len > 64 || s[0] == '.' || s[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.' ? s[i - 1] == '.' : !is_atext(s[i]))
			return false;
	}
	return true;
}

int address_check(const char *s, size_t len, struct err *e)
{
	const char *at = memchr(s, '@', len);
	int shown = len > 80 ? 80 : (int)len;

	if (len > ADDRESS_MAX)
		return err_set(e, ERR_INVAL,
			       "mail address '%.*s...' has %zu bytes, at most %d are allowed",
			       shown, s, len, ADDRESS_MAX);
	if (!at)
		return err_set(e, ERR_INVAL, "mail address '%.*s' has no @", shown, s);
	if (!local_check(s, (size_t)(at - s)))
		return err_set(e, ERR_INVAL,
			       "mail address '%.*s': the part before the @ is not plain letters, "
			       "digits and signs",
			       shown, s);
	if (!address_domain_check(at + 1, len - (size_t)(at + 1 - s)))
		return err_set(e, ERR_INVAL,
			       "mail address '%.*s': the part after the @ is not a host name",
			       shown, s);
	return 0;
}

bool address_message_id_check(const char *s, size_t len)
{
	size_t ats = 0;

	if (len < 3 || len > 250 || s[0] == '@' || s[len - 1] == '@')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] <= ' ' || s[i] > '~' || s[i] == '<' || s[i] == '>')
			return false;
		ats += s[i] == '@';
	}
	return ats == 1;
}

bool address_equal(const char *a, const char *b)
{
	return !strcasecmp(a, b);
}

/* Text between @s and @end without blanks around it; NULL if nothing is left. */
static char *trim_dup(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end > s ? xstrndup(s, (size_t)(end - s)) : NULL;
}

/* First ` #` outside quotes, else the end: from there on it is a comment. */
static const char *find_comment(const char *s)
{
	bool quoted = false;
	const char *p;

	for (p = s; *p; p++) {
		if (*p == '\\' && quoted && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (*p == '#' && !quoted && (p == s || p[-1] == ' ' || p[-1] == ','))
			return p;
	}
	return p;
}

static char *name_dup(const char *s, const char *end)
{
	_cleanup_(freep) char *raw = trim_dup(s, end);
	struct strbuf out = STRBUF_INIT;
	size_t len;

	if (!raw)
		return NULL;
	len = strlen(raw);
	if (len < 2 || raw[0] != '"' || raw[len - 1] != '"')
		return take_ptr(raw);
	for (size_t i = 1; i < len - 1; i++) {
		if (raw[i] == '\\' && i + 2 < len)
			i++;
		strbuf_addch(&out, raw[i]);
	}
	return strbuf_take(&out);
}

/* The comment begins behind the address; a comma that ends the address is no part of it. */
static char *comment_dup(const char *s)
{
	while (*s == ' ' || *s == ',' || *s == ';')
		s++;
	return trim_dup(s, s + strlen(s));
}

bool address_split(const char *s, char **ret_name, char **ret_addr, char **ret_comment)
{
	_cleanup_(freep) char *addr = NULL;
	const char *stop = find_comment(s);
	const char *open = memchr(s, '<', (size_t)(stop - s));
	const char *from = s, *end;

	*ret_name = *ret_addr = *ret_comment = NULL;
	if (open) {
		end = memchr(open, '>', (size_t)(stop - open));
		if (!end)
			return false;
		addr = trim_dup(open + 1, end);
		end++;
	} else {
		while (*from == ' ')
			from++;
		end = from + strcspn(from, " \t,;#([");
		addr = trim_dup(from, end);
	}
	if (!addr || address_check(addr, strlen(addr), NULL) < 0)
		return false;
	if (open)
		*ret_name = name_dup(s, open);
	*ret_addr = take_ptr(addr);
	*ret_comment = comment_dup(end);
	return true;
}
