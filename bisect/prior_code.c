/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two versions of a file: is what differs only for people? */
#include "bisect/prior.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"

#include <string.h>

/* Where the reader is in a file. */
struct text {
	const char *p;
	const char *end;
};

static bool at(const struct text *t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t->end - t->p) >= n && memcmp(t->p, word, n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/*
 * Past blanks, line ends and comments. A comment is one blank, even when it has line ends, since a
 * directive goes on behind it. Return: 0 nothing was there, ' ' or '\n'.
 */
static char skip_gap(struct text *t)
{
	char gap = 0;

	while (t->p < t->end) {
		if (*t->p == '\n') {
			gap = '\n';
			t->p++;
		} else if (is_blank(*t->p)) {
			if (!gap)
				gap = ' ';
			t->p++;
		} else if (at(t, "/*")) {
			const char *stop = memmem(t->p + 2, (size_t)(t->end - t->p - 2), "*/", 2);

			if (!gap)
				gap = ' ';
			t->p = stop ? stop + 2 : t->end;
		} else if (at(t, "//")) {
			if (!gap)
				gap = ' ';
			while (t->p < t->end && *t->p != '\n')
				t->p += *t->p == '\\' && t->p + 1 < t->end ? 2 : 1;
		} else {
			break;
		}
	}
	return gap;
}

/* Past a string or character constant, to its end or that of the line. */
static void skip_quoted(struct text *t)
{
	char quote = *t->p++;

	while (t->p < t->end && *t->p != '\n') {
		char c = *t->p++;

		if (c == quote)
			break;
		if (c == '\\' && t->p < t->end)
			t->p++;
	}
}

static void skip_token(struct text *t)
{
	if (*t->p == '"' || *t->p == '\'')
		skip_quoted(t);
	else
		t->p++;
}

static size_t common_prefix(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t n = a_len < b_len ? a_len : b_len;
	size_t i = 0;

	while (n - i >= 64 && memcmp(a + i, b + i, 64) == 0)
		i += 64;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/*
 * Most of two versions is the same, so it is read once: up to the end of the last token that has at
 * least one byte in common after it, so that no comment begins there in one of both only.
 */
static size_t common_tokens(const char *s, size_t len)
{
	struct text t = { s, s + len };
	const char *last = s;

	for (;;) {
		(void)skip_gap(&t);
		if (t.p >= t.end)
			break;
		skip_token(&t);
		if (t.p >= t.end)
			break;
		last = t.p;
	}
	return (size_t)(last - s);
}

/* C without comments, each gap one blank or line end, none at the ends. */
static bool same_c(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t skip = common_tokens(a, common_prefix(a, a_len, b, b_len));
	struct text x = { a + skip, a + a_len };
	struct text y = { b + skip, b + b_len };
	bool start = skip == 0;

	for (;;) {
		bool gaps = skip_gap(&x) == skip_gap(&y) || start;
		const char *p = x.p;
		const char *q = y.p;

		if (x.p == x.end || y.p == y.end)
			return x.p == x.end && y.p == y.end;
		if (!gaps)
			return false;
		skip_token(&x);
		skip_token(&y);
		if (x.p - p != y.p - q || memcmp(p, q, (size_t)(x.p - p)) != 0)
			return false;
		start = false;
	}
}

/* Columns before the text of a line, tabs to multiples of eight; as Kconfig counts them. */
static size_t indent_of(const char *line, size_t len, size_t *ret_bytes)
{
	size_t cols = 0;
	size_t i = 0;

	for (; i < len && (line[i] == ' ' || line[i] == '\t'); i++)
		cols = line[i] == '\t' ? (cols / 8 + 1) * 8 : cols + 1;
	*ret_bytes = i;
	return cols;
}

static bool is_help(const char *word, size_t len)
{
	while (len && is_blank(word[len - 1]))
		len--;
	return (len == 4 && memcmp(word, "help", 4) == 0) ||
	       (len == 10 && memcmp(word, "---help---", 10) == 0);
}

/*
 * Kconfig without comment lines, blank lines and help texts. A help text is as deep as its first
 * line and ends before the first line that is less deep.
 */
static void reduce_kconfig(const char *s, size_t len, struct strbuf *ret)
{
	bool help = false;
	bool first = false;
	size_t depth = 0;

	for (size_t i = 0; i < len;) {
		const char *stop = memchr(s + i, '\n', len - i);
		size_t n = stop ? (size_t)(stop - s) - i : len - i;
		size_t skip;
		size_t cols = indent_of(s + i, n, &skip);
		const char *word = s + i + skip;
		size_t word_len = n - skip;

		i += n + 1;
		if (!word_len)
			continue;
		if (first)
			depth = cols;
		first = false;
		/* A help text that begins at the left margin has no end that could be told. */
		help &= cols >= depth && depth > 0;
		if (help || *word == '#')
			continue;
		help = first = is_help(word, word_len);
		strbuf_add(ret, word, word_len);
		strbuf_addch(ret, '\n');
	}
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s);
	size_t m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

static bool same_kconfig(const char *a, size_t a_len, const char *b, size_t b_len)
{
	_cleanup_(strbuf_done) struct strbuf x = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf y = STRBUF_INIT;

	reduce_kconfig(a, a_len, &x);
	reduce_kconfig(b, b_len, &y);
	return x.len == y.len && (!x.len || memcmp(x.s, y.s, x.len) == 0);
}

bool prior_same_code(const char *path, const char *a, size_t a_len, const char *b, size_t b_len)
{
	const char *base = strrchr(path, '/');

	if (!strncmp(base ? base + 1 : path, "Kconfig", 7))
		return same_kconfig(a, a_len, b, b_len);
	if (ends_in(path, ".c") || ends_in(path, ".h") || ends_in(path, ".S"))
		return same_c(a, a_len, b, b_len);
	return false;
}
