/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kperfbot-runs/1: read, write again, and judge it against itself. What our reader takes jansson takes
 * too, and what jansson refuses our reader refuses.
 */
#include "bot/detect/verdict_json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const struct judged *j, const struct runs *r)
{
	json_t *o = judged_json(j, r, r);

	if (!o)
		abort();
	json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runs r = { 0 };
	struct judged j = { 0 };
	struct detect_options o = detect_options_default();
	struct judged_plan plan = { .options = &o };

	if (size > 65536)
		return 0;
	if (runs_parse(&r, (const char *)data, size, NULL) == 0) {
		json_t *tree = json_loadb((const char *)data, size, JSON_DECODE_INT_AS_REAL, NULL);

		if (!tree)
			abort();
		json_decref(tree);
		json_decref(runs_json(&r));
		if (judged_compare(&r, &r, &plan, &j, NULL) == 0)
			check_json(&j, &r);
		judged_done(&j);
	}
	runs_done(&r);
	return 0;
}
