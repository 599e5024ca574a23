/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold of suite_parse() whatever the bytes are. */
#pragma once

#include "runners/suites/suite.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void suite_check_params_output(const struct suite *s, const char *test,
					     const struct suite_param *params, size_t n,
					     const uint8_t *data, size_t size)
{
	struct suite_output out;
	bool headline = false;

	if (suite_parse(s, test, (const char *)data, size, params, n, &out, NULL) < 0)
		abort();
	for (size_t i = 0; i < out.n; i++) {
		if (!isfinite(out.metrics[i].value) || out.metrics[i].value < 0 ||
		    (out.metrics[i].headline && out.metrics[i].value <= 0))
			abort();
		headline |= out.metrics[i].headline;
	}
	for (size_t i = 0; i < out.problems_n; i++)
		if (out.problems[i].line < 1 || out.problems[i].byte > size)
			abort();
	if (!headline && out.problems_n == 0)
		abort();
	suite_output_done(&out);
}

static inline void suite_check_output(const char *suite, const uint8_t *data, size_t size)
{
	suite_check_params_output(suite_find(suite), NULL, NULL, 0, data, size);
}
