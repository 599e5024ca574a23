/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of monitors: the first byte says of which, or that samples are summed up first. */
#include "bot/base/strbuf.h"
#include "runners/monitors/monitor.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *monitor, const char *text, size_t len)
{
	struct monitor_run run = { .span_s = 6.06, .work = 10, .cpus = 2 };
	struct suite_output out = { 0 };

	monitor_parse(monitor_find(monitor), text, len, &run, &out);
	for (size_t i = 0; i < out.n; i++) {
		if (!isfinite(out.metrics[i].value) || out.metrics[i].value < 0 ||
		    out.metrics[i].headline)
			abort();
		for (const char *p = out.metrics[i].name; *p; p++)
			if (*p <= ' ' || *p > '~')
				abort();
	}
	for (size_t i = 0; i < out.problems_n; i++)
		if (out.problems[i].line < 1 || out.problems[i].byte > len)
			abort();
	if (out.n == 0 && out.problems_n == 0)
		abort();
	suite_output_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	size_t n = 0;

	if (size == 0)
		return 0;
	while (monitor_list(n))
		n++;
	if (data[0] - 'a' >= 0 && (size_t)(data[0] - 'a') < n) {
		check(monitor_list((size_t)(data[0] - 'a'))->name, text, size - 1);
	} else {
		struct profile_fold *f = profile_fold_new();
		struct strbuf b = STRBUF_INIT;

		for (size_t i = 0; i < size - 1; i += data[0] + 1u) {
			size_t piece = size - 1 - i < data[0] + 1u ? size - 1 - i : data[0] + 1u;

			profile_fold_feed(f, text + i, piece);
		}
		profile_fold_text(f, &b);
		check("perf-profile", strbuf_str(&b), b.len);
		strbuf_done(&b);
		profile_fold_free(f);
	}
	return 0;
}
