/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/url.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <string.h>

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place; no control byte may come out, so that a path is one C string without surprises. */
static bool unescape(char *s, bool plus)
{
	char *out = s;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '%') {
			int hi = hex(s[1]), lo = hi < 0 ? -1 : hex(s[2]);

			if (lo < 0)
				return false;
			c = (unsigned char)(hi << 4 | lo);
			s += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (c < 0x20 || c == 0x7f)
			return false;
		*out++ = (char)c;
	}
	*out = '\0';
	return true;
}

static int parse_query(struct url *u, struct err *e)
{
	char *save = NULL;

	for (char *s = strtok_r(u->query, "&", &save); s; s = strtok_r(NULL, "&", &save)) {
		char *value = strchr(s, '=');

		if (value)
			*value++ = '\0';
		if (u->n == URL_MAX_QUERY)
			return err_set(e, ERR_PARSE, "more than %d query keys", URL_MAX_QUERY);
		if (!unescape(s, true) || (value && !unescape(value, true)))
			return err_set(e, ERR_PARSE, "the query has a broken %% sequence");
		if (url_query(u, s))
			return err_set(e, ERR_PARSE, "query key '%s' is given twice", s);
		u->keys[u->n] = s;
		u->values[u->n++] = value ? value : s + strlen(s);
	}
	return 0;
}

static bool drop_suffix(char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	if (n < k || strcmp(s + n - k, suffix) != 0)
		return false;
	s[n - k] = '\0';
	return true;
}

int url_parse(const char *target, struct url *ret, struct err *e)
{
	struct url u = { 0 };
	size_t n = strcspn(target, "?");
	int r = 0;

	if (target[0] != '/')
		return err_set(e, ERR_PARSE, "the target of a request begins with '/'");
	u.path = xstrndup(target, n);
	u.query = xstrdup(target[n] ? target + n + 1 : "");
	if (!unescape(u.path, false))
		r = err_set(e, ERR_PARSE, "the path has a broken %% sequence or a control byte");
	if (r == 0)
		r = parse_query(&u, e);
	if (r < 0) {
		url_done(&u);
		return r;
	}
	if (!strncmp(u.path, "/api/v1", 7) && (u.path[7] == '/' || u.path[7] == '\0')) {
		u.api = u.json = true;
		memmove(u.path, u.path[7] ? u.path + 7 : "/", strlen(u.path + 7) + 2 - !!u.path[7]);
	}
	u.csv = drop_suffix(u.path, ".csv");
	u.suffix = u.csv || drop_suffix(u.path, ".json");
	u.json = !u.csv && (u.json || u.suffix);
	if (!strcmp(u.path, "/index") || u.path[0] == '\0')
		(void)strcpy(u.path, "/"); /* NOLINT: at least as long before */
	*ret = u;
	return 0;
}

void url_done(struct url *u)
{
	free(u->path);
	free(u->query);
	*u = (struct url){ 0 };
}

const char *url_query(const struct url *u, const char *key)
{
	for (size_t i = 0; i < u->n; i++)
		if (!strcmp(u->keys[i], key))
			return u->values[i];
	return NULL;
}
