/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output of any suite. The first byte chooses the suite, the second the parameters, and for suites
 * with tests the third one of these; the rest is the output.
 */
#include "tests/fuzz/suite_check.h"

#include <string.h>

static char *text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* The output once as it is, and once as one of several runs of a job. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "lines", "json", "csv" };
	struct suite_param params[4] = { { text("iterations"), text("2") },
					 { text("nr_task"), text("2") },
					 { text("format"), text("lines") },
					 { text("headline"), text("exec.score") } };
	const struct suite *s;
	size_t suites = 0, tests = 0, n = 0;

	if (size < 3)
		return 0;
	while (suite_list(suites))
		suites++;
	s = suite_list(data[0] % suites);
	while (suite_test(s, tests))
		tests++;
	if (!strcmp(suite_name(s), "exec")) {
		params[2].value = text(formats[data[1] % 3]);
		n = data[1] & 4 ? 4 : 3;
	} else {
		n = data[1] % 3;
	}
	suite_check_params_output(s, tests && data[2] ? suite_test(s, data[2] % tests) : NULL,
				  params, n, data + 3, size - 3);
	return 0;
}
