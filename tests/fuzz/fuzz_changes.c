/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories as CSV: read, searched as a whole and on line, written as kperfbot-changes/1. */
#include "bot/detect/changes_json.h"
#include "bot/detect/json_write.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct series *s, const struct changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct change_point *p = &c->items[i];

		if (p->lo > p->index || p->index > p->hi || p->hi >= s->points.len ||
		    !(p->p >= 0 && p->p <= 1))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct series_file f = { 0 };
	struct changes_options o = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct json_out out = { .b = &text };

	if (size < 1 || size > 16384)
		return 0;
	o.sensitivity = (enum changes_sensitivity)(data[0] % 3);
	if (series_parse((const char *)data + 1, size - 1, data[0] & 8, &f, NULL) < 0)
		return 0;
	changes_json_open(&out);
	vec_foreach (s, &f.items) {
		struct changes_control control = { .points = f.items.items[0].points.items,
						   .npoints = f.items.items[0].points.len,
						   .again = s->again.items,
						   .nagain = s->again.len };
		struct changes c = { 0 };
		int r;

		/* Every point is a search: a long series would take all the time. */
		if (data[0] & 4 && s->points.len <= 80)
			r = changes_online(s->points.items, s->points.len, 0, &control, &o, &c,
					   NULL);
		else
			r = changes_find(s->points.items, s->points.len, &control, &o, &c, NULL);
		if (r < 0)
			abort();
		check(s, &c);
		changes_json_add(&out, s, &c);
		changes_done(&c);
	}
	changes_json_close(&out);
	strbuf_done(&text);
	series_file_done(&f);
	return 0;
}
