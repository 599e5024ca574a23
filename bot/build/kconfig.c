/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/build/build_priv.h"

#include <string.h>

#define WARNINGS_MAX 100

bool kconfig_is_file(const char *base)
{
	return strchr(base, '/') != NULL;
}

int kconfig_check_base(const char *base, struct err *e)
{
	size_t len = strlen(base);

	if (kconfig_is_file(base))
		return 0;
	if (len > 6 && len < 100 && strcmp(base + len - 6, "config") == 0 && base[0] != '-' &&
	    strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == len)
		return 0;
	return err_set(
		e, ERR_INVAL,
		"kconfig base '%s' is neither a make target such as tinyconfig nor a path with '/'",
		base);
}

static int add_file(const char *what, const char *path, struct strbuf *b, struct err *e)
{
	struct strbuf content = STRBUF_INIT;
	int r = file_read(path, KCONFIG_MAX, &content, e);

	if (r < 0)
		(void)err_wrap(e, "kconfig %s", what);
	/* With the length in front, text cannot move from one file to the next unseen. */
	strbuf_addf(b, "%s %zu\n", what, content.len);
	strbuf_add(b, content.s, content.len);
	strbuf_done(&content);
	return r;
}

int build_kconfig_hash(const char *base, const char *const *fragments, size_t n, char ret[65],
		       struct err *e)
{
	struct strbuf b = STRBUF_INIT;
	int r = kconfig_check_base(base, e);

	if (r == 0 && kconfig_is_file(base))
		r = add_file("file", base, &b, e);
	else
		strbuf_addf(&b, "target %s\n", base);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_file("fragment", fragments[i], &b, e);
	if (r == 0)
		file_sha256_hex(b.s, b.len, ret);
	strbuf_done(&b);
	return r;
}

/* "CONFIG_X" of "CONFIG_X=y" or "# CONFIG_X is not set"; the length, or 0. */
static size_t symbol(const char *line, const char **ret)
{
	size_t n;

	*ret = strncmp(line, "# ", 2) == 0 ? line + 2 : line;
	if (strncmp(*ret, "CONFIG_", 7) != 0)
		return 0;
	n = strcspn(*ret, "= ");
	if (*ret == line)
		return line[n] == '=' ? n : 0;
	return strcmp(*ret + n, " is not set") == 0 ? n : 0;
}

static bool has_line(const char *config, const char *line, size_t len)
{
	for (const char *p = config; (p = strstr(p, line)); p++)
		if ((p == config || p[-1] == '\n') && (p[len] == '\n' || p[len] == '\0'))
			return true;
	return false;
}

/* Does some line give @sym a value? */
static bool is_set(const char *config, const char *sym, size_t n)
{
	_cleanup_(freep) char *head = xasprintf("%.*s=", (int)n, sym);

	for (const char *p = config; (p = strstr(p, head)); p++)
		if (p == config || p[-1] == '\n')
			return true;
	return false;
}

void kconfig_check_effect(const char *config, const char *fragment, struct build_result *r)
{
	VEC(char *) v = { r->warnings, r->n_warnings, r->n_warnings };

	while (*fragment && v.len < WARNINGS_MAX) {
		size_t len = strcspn(fragment, "\n");
		_cleanup_(freep) char *line = xstrndup(fragment, len);
		const char *sym;
		size_t n = symbol(line, &sym);
		bool off = n && (sym != line || strcmp(sym + n, "=n") == 0);

		fragment += len + (fragment[len] == '\n');
		if (n == 0)
			continue;
		if (off ? !is_set(config, sym, n) : has_line(config, line, len))
			continue;
		vec_push(&v, xasprintf("'%.200s' did not take effect", line));
	}
	r->warnings = v.items;
	r->n_warnings = v.len;
}
