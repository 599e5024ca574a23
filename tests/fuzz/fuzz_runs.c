/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot-runs/1: read, write again, and judge it against itself. */
#include "bot/detect/verdict_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runs r = { 0 };
	struct judged j = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o };

	if (size > 65536)
		return 0;
	if (runs_parse(&r, (const char *)data, size, NULL) == 0) {
		json_decref(runs_json(&r));
		if (judged_compare(&r, &r, &plan, &j, NULL) == 0)
			json_decref(judged_json(&j, &r, &r));
		judged_done(&j);
	}
	runs_done(&r);
	return 0;
}
