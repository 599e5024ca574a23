/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of the operator's: lines, JSON and CSV. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/suites/outputs.h"

#include <stdlib.h>
#include <string.h>

static void parse(const char *params, const char *text, size_t len, struct suite_output *ret)
{
	struct output_params p;
	struct err e = { 0 };

	output_params_init(&p, params);
	assert_ok(suite_parse(suite_find("exec"), "t", text, len, p.items, p.n, ret, &e), &e);
}

/* @want: "[*]name=value unit better kind, …" */
static void expect(const char *params, const char *text, const char *want, size_t problems)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	parse(params, text, strlen(text), &out);
	for (size_t i = 0; i < out.n; i++)
		strbuf_addf(&b, "%s%s%s=%.12g %s %s %s", i ? ", " : "",
			    out.metrics[i].headline ? "*" : "", out.metrics[i].name,
			    out.metrics[i].value, out.metrics[i].unit,
			    metric_better_name(out.metrics[i].better),
			    metric_kind_name(out.metrics[i].kind));
	assert_string_equal(strbuf_str(&b), want);
	if (out.problems_n != problems)
		fail_msg("'%s': %zu problems: %s", text, out.problems_n,
			 out.problems_n ? out.problems[0].text : "");
	suite_output_done(&out);
}

static void reads_lines(void **state)
{
	(void)state;
	expect("", "42\n", "*exec.value=42  none count", 0);
	expect("", "speed 12.5 MB/s higher\nlatency: 1.5e-3 s lower\n# no 1\n\n  share\t5 %\n",
	       "*exec.speed=12.5 MB/s higher rate, exec.latency=0.0015 s lower time, "
	       "exec.share=5 % none share",
	       0);
	expect("headline=exec.b better=lower unit=ms", "a 1\nb 2 s higher\n",
	       "exec.a=1  none count, *exec.b=2 ms lower time", 0);
	expect("headline=b", "a 1\nb 2\n", "exec.a=1  none count, *exec.b=2  none count", 0);
	expect("", "a 1 ops\na 3 ops\n", "*exec.a=2 ops none count", 0);
	expect("headline=exec.c", "a 1\n", "exec.a=1  none count", 1);
}

static void says_what_is_no_result(void **state)
{
	(void)state;
	expect("", "a nan\n", "", 2);
	expect("headline=b", "a 1 ops/s\na 2 s\na 3 ops/s\nb 1 s\nb 3\n", "*exec.b=2 s none time",
	       1);
	expect("", "a inf\na -1\na 1,5\na 0x10\na 1e999\na 1.\na .5\na 1e\na +1\n", "", 10);
	expect("", "a 1 ops/s faster\n", "", 2);
	expect("", "a 1 ops/s higher and more\n", "", 2);
	expect("", "a*b 1\n", "", 2);
	expect("", "it was 12 s\na 0\n", "", 3);
	expect("", "cut 12", "", 2);
	expect("", "", "", 1);
	expect("", "[    1.000000] a 1\na 2\n", "*exec.a=2  none count", 1);
}

static void reads_json(void **state)
{
	(void)state;
	expect("format=json",
	       "{\"a\": 1, \"b\": {\"value\": 2.5, \"unit\": \"s\", \"better\": \"lower\"}}",
	       "*exec.a=1  none count, exec.b=2.5 s lower time", 0);
	expect("format=json",
	       "[{\"name\": \"x\", \"value\": 3, \"unit\": \"%\"},\n{\"name\": \"y\", \"value\": 4}]\n",
	       "*exec.x=3 % none share, exec.y=4  none count", 0);
	expect("format=json", "{\"a\": {\"b\": {\"c\": 1}}, \"host\": \"lab\", \"ok\": true}",
	       "*exec.a.b.c=1  none count", 0);
	expect("format=json", "{\n[    1.000000] usb\n\"a\": [1, 3]}\r\n", "*exec.a=2  none count",
	       1);
}

static void refuses_json_that_is_none(void **state)
{
	struct suite_output out;
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	(void)state;
	expect("format=json", "{\"a\": 1", "", 2);
	expect("format=json", "{\"a\": nan}", "", 2);
	expect("format=json", "{\"a\": -1}", "", 2);
	expect("format=json", "{\"a\": 1, \"a\": 2}", "", 2);
	expect("format=json", "{\"a\": null}", "", 2);
	expect("format=json", "{\"name\": \"a\", \"value\": \"1\"}", "", 2);
	expect("format=json", "{\"a b\": 1}", "", 2);
	expect("format=json", "{\"a\": 1e999}", "", 2);
	expect("format=json", "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}", "", 2);
	expect("format=json", "1", "", 2);
	parse("format=json", "{\n\n\"a\": x}", 10, &out);
	assert_int_equal(out.problems[0].line, 3);
	assert_int_equal(out.problems[0].byte, 3);
	suite_output_done(&out);
	for (int i = 0; i < 1000000; i++)
		strbuf_addch(&b, '[');
	parse("format=json", b.s, b.len, &out);
	assert_int_equal(out.n, 0);
	suite_output_done(&out);
}

static void reads_csv(void **state)
{
	(void)state;
	expect("format=csv", "name,value,unit,better\na,1,s,lower\n\"b\", 2 ,ops/s,\n",
	       "*exec.a=1 s lower time, exec.b=2 ops/s none rate", 0);
	expect("format=csv headline=exec.y", "x,y\n1,10\n3,20\n,30\n",
	       "exec.x=2  none count, *exec.y=20  none count", 0);
	expect("format=csv", "x,kernel\n1,6.12-rc1\n2,6.12-rc1\n", "*exec.x=1.5  none count", 1);
	expect("format=csv", "x,y\n1\n", "", 2);
	expect("format=csv", "x\n1,5\n", "", 2);
	expect("format=csv", "x\n\"1\n", "", 2);
	expect("format=csv", "x,y\n1,nan\n1,2\n", "*exec.x=1  none count", 1);
	expect("format=csv", "x\r\n1\r\n", "*exec.x=1  none count", 0);
	expect("format=csv", "x\n1", "", 2);
	expect("format=csv", "\xef\xbb\xbfname,value\na,1\n", "*exec.a=1  none count", 0);
}

static void says_what_is_no_row(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	for (int i = 0; i < 65; i++)
		strbuf_addf(&b, "%sc%d", i ? "," : "", i);
	strbuf_addch(&b, '\n');
	parse("format=csv", b.s, b.len, &out);
	assert_string_equal(out.problems[0].text,
			    "no row of 1 to 64 cells with their quotes closed; left out");
	suite_output_done(&out);
}

/* Names are limited, samples are not kept: memory does not grow with the output. */
static void many_names_and_samples_are_bounded(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	for (int i = 0; i < 5000; i++)
		strbuf_addf(&b, "m%d %d\n", i, i + 1);
	parse("", b.s, b.len, &out);
	assert_int_equal(out.n, 4096);
	assert_int_equal(out.problems_n, 1);
	assert_true(out.metrics[4095].value == 4096);
	suite_output_done(&out);

	strbuf_reset(&b);
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&b, "a %d\n", i + 1);
	parse("", b.s, b.len, &out);
	assert_int_equal(out.metrics[0].series_n, 1000);
	assert_true(out.metrics[0].series[999] == 1000);
	suite_output_done(&out);
	strbuf_addstr(&b, "a 1001\n");
	parse("", b.s, b.len, &out);
	assert_int_equal(out.metrics[0].series_n, 0);
	assert_true(out.metrics[0].value == 501);
	suite_output_done(&out);
}

/* What is divided by a power of ten has to round as the C library does. */
static void numbers_are_the_nearest_double(void **state)
{
	static const char *const numbers[] = { "0.1",
					       "5958.810068649886",
					       "123456789012345.6",
					       "0.0000000000001",
					       "9007199254740993",
					       "99999999.99999999",
					       "1.7976931348623157e+300",
					       "3.14159265358979323846",
					       "0.30000000000000004" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		_cleanup_(freep) char *line = xasprintf("a %s\n", numbers[i]);
		struct suite_output out;

		parse("", line, strlen(line), &out);
		assert_int_equal(out.n, 1);
		assert_true(out.metrics[0].value == strtod(numbers[i], NULL));
		suite_output_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines),
		cmocka_unit_test(says_what_is_no_result),
		cmocka_unit_test(reads_json),
		cmocka_unit_test(refuses_json_that_is_none),
		cmocka_unit_test(reads_csv),
		cmocka_unit_test(says_what_is_no_row),
		cmocka_unit_test(many_names_and_samples_are_bounded),
		cmocka_unit_test(numbers_are_the_nearest_double),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
