/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "web/csv.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "web/html.h"
#include "web/plot_svg.h"

#include <math.h>
#include <string.h>

static void fields_are_quoted_and_separated(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	(void)state;
	csv_heads(&b, "a,b,c,d");
	csv_str(&b, NULL);
	csv_str(&b, "x \"y\", z\r\n\x1b");
	csv_num(&b, -0.038);
	csv_num(&b, NAN);
	csv_end(&b);
	csv_num(&b, 45915);
	csv_num(&b, INFINITY);
	csv_str(&b, "");
	csv_end(&b);
	assert_string_equal(strbuf_str(&b), "a,b,c,d\r\n"
					    "\"\",\"x \"\"y\"\", z   \",-0.038,\r\n"
					    "45915,,\"\"\r\n");
}

static void grid_steps_are_round_numbers(void **state)
{
	(void)state;
	assert_near(svg_step(10, 5), 2, 1e-12);
	assert_near(svg_step(3, 5), 1, 1e-12);
	assert_near(svg_step(12000, 5), 5000, 1e-6);
	assert_near(svg_step(0.04, 5), 0.01, 1e-12);
	assert_true(svg_step(1e-300, 5) > 0);
	assert_true(isfinite(svg_step(1e300, 5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_quoted_and_separated),
		cmocka_unit_test(grid_steps_are_round_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
