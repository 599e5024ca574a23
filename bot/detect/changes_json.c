/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/changes_json.h"

#include "bot/detect/json_write.h"

void changes_json_open(struct json_out *o)
{
	json_out_open(o, NULL, '{');
	json_out_str(o, "format", "kperfbot-changes/1");
	json_out_open(o, "series", '[');
}

void changes_json_close(struct json_out *o)
{
	json_out_close(o, ']');
	json_out_close(o, '}');
}

static void put_change(struct json_out *o, const struct series *s, const struct change_point *c)
{
	json_out_open(o, NULL, '{');
	json_out_int(o, "index", (long)s->rows.items[c->index]);
	if (*s->commits.items[c->index])
		json_out_str(o, "commit", s->commits.items[c->index]);
	json_out_int(o, "lo", (long)s->rows.items[c->lo]);
	json_out_int(o, "hi", (long)s->rows.items[c->hi]);
	json_out_num(o, "before", c->before);
	json_out_num(o, "after", c->after);
	json_out_num(o, "rel", c->rel);
	json_out_num(o, "abs", c->abs);
	json_out_num(o, "p", c->p);
	json_out_str(o, "kind", change_kind_name(c->kind));
	if (c->worse)
		json_out_str(o, "direction", c->worse > 0 ? "worse" : "better");
	if (c->reason != CHANGE_BY_ITSELF)
		json_out_str(o, "reason", change_reason_text(c->reason));
	if (c->seen_at != CHANGE_NEVER)
		json_out_int(o, "seen_at", (long)s->last_rows.items[c->seen_at]);
	if (c->gone_at != CHANGE_NEVER)
		json_out_int(o, "gone_at", (long)s->last_rows.items[c->gone_at]);
	json_out_close(o, '}');
}

void changes_json_add(struct json_out *o, const struct series *s, const struct changes *c)
{
	json_out_open(o, NULL, '{');
	json_out_str(o, "name", s->name);
	if (*s->machine)
		json_out_str(o, "machine", s->machine);
	json_out_int(o, "n", (long)s->nrows);
	json_out_int(o, "commits", (long)s->points.len);
	if (s->gaps)
		json_out_int(o, "gaps", (long)s->gaps);
	json_out_open(o, "changes", '[');
	for (size_t i = 0; i < c->n; i++)
		put_change(o, s, &c->items[i]);
	json_out_close(o, ']');
	json_out_open(o, "noise", '{');
	json_out_num(o, "sd", c->sd);
	json_out_num(o, "rel", c->sd_rel);
	json_out_close(o, '}');
	if (c->few)
		json_out_str(o, "note", "fewer than 12 commits are known: nothing is said");
	json_out_close(o, '}');
}
