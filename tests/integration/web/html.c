/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/web/html.h"

#include "tests/integration/web/client.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* Elements that our pages are made of; anything else got in from outside. */
static bool is_ours(const char *tag)
{
	static const char *const ours =
		" html head meta title link body a header nav ul li main h1 h2 p b br span table thead "
		"tbody tr th td div dl dt dd time footer small details summary pre code svg desc rect "
		"line circle path text polyline ";
	char word[40];

	(void)snprintf(word, sizeof(word), " %s ", tag);
	return strstr(ours, word) != NULL;
}

static bool is_void(const char *tag)
{
	return !strcmp(tag, "meta") || !strcmp(tag, "link") || !strcmp(tag, "br");
}

void assert_well_formed(const char *path, const char *s)
{
	char open[64][20];
	size_t depth = 0;

	if (strncmp(s, "<!doctype html>\n", 16) != 0)
		fail_msg("%s: no doctype", path);
	s += 16;
	while ((s = strchr(s, '<'))) {
		bool end = s[1] == '/';
		size_t n = strcspn(s + 1 + end, " >");
		char tag[20];

		(void)snprintf(tag, sizeof(tag), "%.*s", (int)n, s + 1 + end);
		if (!is_ours(tag))
			fail_msg("%s: element '%s'", path, tag);
		s += 1 + end + n;
		while (*s == ' ') {
			size_t k = strcspn(s + 1, "=> ");

			if (!strncmp(s + 1, "on", 2) || !strncmp(s + 1, "style", 5) ||
			    s[1 + k] != '=' || s[2 + k] != '"')
				fail_msg("%s: attribute '%.20s'", path, s);
			s += 3 + k;
			s += strcspn(s, "\"<>");
			assert_int_equal(*s, '"');
			s++;
		}
		assert_int_equal(*s, '>');
		if (end) {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], tag);
		} else if (!is_void(tag)) {
			assert_true(depth < 64);
			(void)snprintf(open[depth++], 20, "%s", tag);
		}
	}
	assert_int_equal(depth, 0);
}

void assert_harmless(const char *path, const struct reply *r)
{
	static const char *const bad[] = { "<script",	   "<img",  "\x1b",
					   "\xe2\x80\xae", "<oops", "<i>note" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(strbuf_str(&r->body), bad[i]))
			fail_msg("%s has '%s'", path, bad[i]);
}
