/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/html.h"

#include "bot/base/cleanup.h"
#include "bot/base/visible.h"
#include "tests/test.h"

#include <string.h>

static void assert_html(struct html *h, const char *want)
{
	char *got = html_take(h);

	assert_string_equal(got, want);
	free(got);
}

static void escapes_text_and_attributes(void **state)
{
	struct html h = HTML_INIT;

	(void)state;
	html_open(&h, "b");
	html_attr(&h, "title", "\"'><script>&");
	html_attr(&h, "lang", NULL);
	html_text(&h, "</b><script>alert('x\")&amp;");
	assert_html(&h,
		    "<b title=\"&quot;&#39;&gt;&lt;script&gt;&amp;\">&lt;/b&gt;&lt;script&gt;alert("
		    "&#39;x&quot;)&amp;amp;</b>");
}

static void encodes_a_path_segment_whole(void **state)
{
	struct html h = HTML_INIT;

	(void)state;
	html_open(&h, "a");
	html_href(&h, "/trees/", "../x?y=\"<b>&\xc3\xa9", ".json");
	html_text(&h, "t");
	assert_html(&h, "<a href=\"/trees/..%2Fx%3Fy%3D%22%3Cb%3E%26%C3%A9.json\">t</a>");
}

static void closes_void_elements_by_itself(void **state)
{
	struct html h = HTML_INIT;

	(void)state;
	html_open(&h, "i");
	html_open(&h, "br");
	html_text(&h, "x");
	html_open(&h, "br");
	assert_html(&h, "<i><br>x<br></i>");
}

static void shortens_by_characters_not_bytes(void **state)
{
	struct html h = HTML_INIT;

	(void)state;
	html_short(&h, "\xc3\xa9\xc3\xa9<<", 3);
	html_short(&h, "ab", 2);
	assert_html(&h, "\xc3\xa9\xc3\xa9&lt;\xe2\x80\xa6"
			"ab");
}

static void shows_what_hides_or_steers(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a\x1b[31mb", "a[U+001B][31mb" },
		{ "\x7f\r", "[U+007F][U+000D]" },
		{ "tab\tline\n", "tab\tline\n" },
		{ "\xe2\x80\xae rtl", "[U+202E] rtl" },
		{ "\xe2\x81\xa6", "[U+2066]" },
		{ "\xe2\x80\x8b", "[U+200B]" },
		{ "\xc2\x9b"
		  "31m",
		  "[U+009B]31m" },
		{ "\xf3\xa0\x81\x81", "[U+E0041]" },
		{ "bad \xff\xc3", "bad \xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc0\xbcscript", "\xef\xbf\xbd\xef\xbf\xbdscript" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xef\xbf\xbe", "\xef\xbf\xbd" },
		{ "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa7", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa7" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

		visible_add(&b, cases[i].in, strlen(cases[i].in));
		assert_string_equal(strbuf_str(&b), cases[i].out);
	}
}

static void cells_bear_the_head_of_their_column(void **state)
{
	struct html h = HTML_INIT;
	char *text;

	(void)state;
	html_open(&h, "table");
	h.heads = "Commit|>P & Q";
	for (int i = 0; i < 2; i++) {
		html_open(&h, "tr");
		html_el(&h, "td", "wide", "a");
		html_el(&h, "td", NULL, "b");
		html_el(&h, "td", NULL, "c");
		html_close(&h);
	}
	h.heads = NULL;
	html_el(&h, "td", NULL, "d");
	text = html_take(&h);
	assert_non_null(strstr(text, "<td data-h=\"Commit\" class=\"wide\">a</td>"
				     "<td data-h=\"P &amp; Q\">b</td><td>c</td></tr>"));
	assert_non_null(strstr(strstr(text, "</tr>"), "data-h=\"Commit\""));
	assert_non_null(strstr(text, "<td>d</td>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_bear_the_head_of_their_column),
		cmocka_unit_test(escapes_text_and_attributes),
		cmocka_unit_test(encodes_a_path_segment_whole),
		cmocka_unit_test(closes_void_elements_by_itself),
		cmocka_unit_test(shortens_by_characters_not_bytes),
		cmocka_unit_test(shows_what_hides_or_steers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
