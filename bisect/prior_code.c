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
			gap = gap ? gap : ' ';
			t->p++;
		} else if (at(t, "/*")) {
			const char *stop = memmem(t->p + 2, (size_t)(t->end - t->p - 2), "*/", 2);

			gap = gap ? gap : ' ';
			t->p = stop ? stop + 2 : t->end;
		} else if (at(t, "//")) {
			gap = gap ? gap : ' ';
			while (t->p < t->end && *t->p != '\n')
				t->p += *t->p == '\\' && t->p + 1 < t->end ? 2 : 1;
		} else {
			break;
		}
	}
	return gap;
}

/* A string or character constant, to its end or that of the line. */
static void copy_quoted(struct text *t, struct strbuf *ret)
{
	char quote = *t->p;

	strbuf_addch(ret, *t->p++);
	while (t->p < t->end && *t->p != '\n') {
		char c = *t->p++;

		strbuf_addch(ret, c);
		if (c == quote)
			break;
		if (c == '\\' && t->p < t->end)
			strbuf_addch(ret, *t->p++);
	}
}

/* C without comments, each gap one blank or line end, none at the ends. */
static void reduce_c(const char *s, size_t len, struct strbuf *ret)
{
	struct text t = { s, s + len };

	(void)skip_gap(&t);
	while (t.p < t.end) {
		char gap;

		if (*t.p == '"' || *t.p == '\'')
			copy_quoted(&t, ret);
		else
			strbuf_addch(ret, *t.p++);
		gap = skip_gap(&t);
		if (gap && t.p < t.end)
			strbuf_addch(ret, gap);
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

bool prior_same_code(const char *path, const char *a, size_t a_len, const char *b, size_t b_len)
{
	_cleanup_(strbuf_done) struct strbuf x = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf y = STRBUF_INIT;
	const char *base = strrchr(path, '/');
	void (*reduce)(const char *s, size_t len, struct strbuf *ret);

	if (!strncmp(base ? base + 1 : path, "Kconfig", 7))
		reduce = reduce_kconfig;
	else if (ends_in(path, ".c") || ends_in(path, ".h") || ends_in(path, ".S"))
		reduce = reduce_c;
	else
		return false;
	reduce(a, a_len, &x);
	reduce(b, b_len, &y);
	return x.len == y.len && (!x.len || memcmp(x.s, y.s, x.len) == 0);
}
