/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/verdict_json.h"

#include "bot/base/err.h"
#include "bot/detect/json_write.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

static void put_side(struct json_out *o, const char *key, const struct detect_side *s)
{
	json_out_open(o, key, '{');
	json_out_int(o, "n", s->runs);
	json_out_int(o, "boots", s->boots);
	json_out_int(o, "units", s->units);
	if (s->dropped)
		json_out_int(o, "dropped", s->dropped);
	json_out_num(o, "center", s->center);
	json_out_num(o, "sd", s->sd);
	if (s->nmodes) {
		json_out_open(o, "modes", '[');
		for (int i = 0; i < s->nmodes; i++) {
			json_out_open(o, NULL, '{');
			json_out_num(o, "share", s->modes[i].share);
			json_out_num(o, "center", s->modes[i].center);
			json_out_close(o, '}');
		}
		json_out_close(o, ']');
	}
	json_out_close(o, '}');
}

int verdict_more_runs(const struct detect_result *r)
{
	int units = r->base.units < r->head.units ? r->base.units : r->head.units;
	int per_unit = r->base.units ? (r->base.runs + r->base.units - 1) / r->base.units : 1;

	if (r->notes & DETECT_NOTE_ONE_BOOT)
		units = per_unit = 1;
	return r->more_units > units ? (r->more_units - units) * per_unit : 0;
}

static void put_power(struct json_out *o, const struct detect_result *r)
{
	json_out_open(o, "power", '{');
	json_out_num(o, "detectable", r->mde);
	json_out_int(o, "more_runs", verdict_more_runs(r));
	if (r->more_units)
		json_out_int(o, "next_look", r->more_units);
	if (r->units_needed)
		json_out_int(o, "units_needed", r->units_needed);
	json_out_close(o, '}');
}

/* Reasons in words, with what a control said against the verdict. */
static void put_notes(struct json_out *o, const struct detect_result *r, const char *more)
{
	char buf[160];

	json_out_open(o, "notes", '[');
	for (int b = 0; b < DETECT_NOTES; b++) {
		enum detect_note bit = (enum detect_note)(1U << b);

		if (r->notes & bit)
			json_out_str(o, NULL, detect_note_text(r, bit, buf, sizeof(buf)));
	}
	if (more)
		json_out_str(o, NULL, more);
	json_out_close(o, ']');
}

static void put_effect(struct json_out *o, const struct detect_result *r)
{
	json_out_str(o, "verdict", detect_verdict_name(r->verdict));
	json_out_num(o, "rel", r->rel);
	json_out_num(o, "lo", r->lo);
	json_out_num(o, "hi", r->hi);
	json_out_num(o, "level", r->level);
	json_out_num(o, "abs", r->abs);
	json_out_num(o, "abs_lo", r->abs_lo);
	json_out_num(o, "abs_hi", r->abs_hi);
	json_out_num(o, "fresh_rel", r->fresh_rel);
	json_out_num(o, "fresh_lo", r->fresh_lo);
	json_out_num(o, "fresh_hi", r->fresh_hi);
	json_out_num(o, "size_rel", r->size_rel);
	json_out_num(o, "size_lo", r->size_lo);
	json_out_num(o, "size_hi", r->size_hi);
	json_out_num(o, "p", r->p);
	json_out_num(o, "q", r->q);
	json_out_num(o, "t", r->t);
	json_out_num(o, "df", r->df);
	json_out_int(o, "look", r->look);
	if (r->candidate_look)
		json_out_int(o, "candidate_look", r->candidate_look);
	json_out_str(o, "scale", r->ln_scale ? "ln" : "raw");
}

static void put_metric(struct json_out *o, const struct judged *j, size_t i)
{
	const struct judged_metric *m = &j->metrics.items[i];
	const struct judged_checks *c = judged_checks_of(j, i);
	const struct findings *f = &j->findings;
	char buf[160];

	json_out_open(o, NULL, '{');
	json_out_str(o, "name", m->name);
	if (m->unit[0])
		json_out_str(o, "unit", m->unit);
	json_out_str(o, "better", detect_better_name(m->better));
	if (m->kind)
		json_out_str(o, "kind", findings_kind_name(m->kind));
	json_out_bool(o, "headline", m->headline);
	put_effect(o, &m->result);
	if (f->role[i] == FINDINGS_ROLE_FOLLOWS)
		json_out_str(o, "follows", j->metrics.items[f->items.items[f->of[i]].lead].name);
	json_out_num(o, "per_work", f->per_work[i]);
	put_side(o, "base", &m->result.base);
	put_side(o, "head", &m->result.head);
	put_power(o, &m->result);
	put_notes(o, &m->result,
		  c && c->failed >= 0 ? control_text(&c->check[c->failed], buf, sizeof(buf))
				      : NULL);
	json_out_close(o, '}');
}

static double num(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NO_VALUE;
}

static int integer(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 ? 0 : v > 1000000000 ? 1000000000 : (int)v;
}

static void read_side(const json_t *o, struct detect_side *s)
{
	json_t *modes = json_object_get(o, "modes");

	*s = (struct detect_side){ .runs = integer(o, "n"),
				   .dropped = integer(o, "dropped"),
				   .boots = integer(o, "boots"),
				   .units = integer(o, "units"),
				   .center = num(o, "center"),
				   .sd = num(o, "sd") };
	for (size_t i = 0; i < DETECT_MODES_MAX && i < json_array_size(modes); i++) {
		s->modes[i].share = num(json_array_get(modes, i), "share");
		s->modes[i].center = num(json_array_get(modes, i), "center");
		s->nmodes = (int)i + 1;
	}
}

int verdict_json_read(const json_t *o, struct detect_result *ret, struct err *e)
{
	const char *verdict = json_string_value(json_object_get(o, "verdict"));
	const char *scale = json_string_value(json_object_get(o, "scale"));
	const json_t *power = json_object_get(o, "power");
	int v = 0;

	if (!json_is_object(o) || !verdict)
		return err_set(e, ERR_PARSE, "a metric without 'verdict'");
	while (v < DETECT_VERDICTS &&
	       strcmp(verdict, detect_verdict_name((enum detect_verdict)v)) != 0)
		v++;
	if (v == DETECT_VERDICTS)
		return err_set(e, ERR_PARSE, "unknown verdict '%s'", verdict);
	*ret = (struct detect_result){
		.verdict = (enum detect_verdict)v,
		.rel = num(o, "rel"),
		.lo = num(o, "lo"),
		.hi = num(o, "hi"),
		.level = num(o, "level"),
		.abs = num(o, "abs"),
		.abs_lo = num(o, "abs_lo"),
		.abs_hi = num(o, "abs_hi"),
		.fresh_rel = num(o, "fresh_rel"),
		.fresh_lo = num(o, "fresh_lo"),
		.fresh_hi = num(o, "fresh_hi"),
		.size_rel = num(o, "size_rel"),
		.size_lo = num(o, "size_lo"),
		.size_hi = num(o, "size_hi"),
		.p = num(o, "p"),
		.q = num(o, "q"),
		.t = num(o, "t"),
		.df = num(o, "df"),
		.mde = num(power, "detectable"),
		.more_units = integer(power, "next_look"),
		.units_needed = integer(power, "units_needed"),
		.look = integer(o, "look"),
		.candidate_look = integer(o, "candidate_look"),
		.ln_scale = scale && !strcmp(scale, "ln"),
	};
	read_side(json_object_get(o, "base"), &ret->base);
	read_side(json_object_get(o, "head"), &ret->head);
	return 0;
}

static void put_merged(struct json_out *o, const struct judged *j)
{
	_cleanup_(freep) struct finding_list *groups =
		xcalloc((size_t)j->groups + 1, sizeof(*groups));

	for (size_t i = 0; i < j->metrics.len; i++)
		if (j->metrics.items[i].group)
			vec_push(&groups[j->metrics.items[i].group], i);
	json_out_open(o, "merged", '[');
	for (int g = 1; g <= j->groups; g++) {
		json_out_open(o, NULL, '[');
		vec_foreach (i, &groups[g])
			json_out_str(o, NULL, j->metrics.items[*i].name);
		json_out_close(o, ']');
		vec_done(&groups[g]);
	}
	json_out_close(o, ']');
}

static void put_mover(struct json_out *o, const struct judged *j, size_t i)
{
	const struct judged_metric *m = &j->metrics.items[i];
	bool share = judged_is_share(m);

	json_out_open(o, NULL, '{');
	json_out_str(o, "name", m->name);
	json_out_num(o, "rel", m->result.rel);
	json_out_num(o, "lo", m->result.lo);
	json_out_num(o, "hi", m->result.hi);
	json_out_num(o, "per_work", j->findings.per_work[i]);
	if (share)
		json_out_num(o, "points", m->result.abs);
	else if (!isfinite(m->result.rel))
		json_out_num(o, "abs", m->result.abs);
	json_out_close(o, '}');
}

static void put_ladder(struct json_out *o, const struct judged *j, const struct finding *x)
{
	json_out_open(o, "ladder", '{');
	json_out_str(o, "name", x->ladder_name);
	json_out_open(o, "steps", '[');
	vec_foreach (s, &x->ladder) {
		const struct judged_metric *m = &j->metrics.items[s->metric];

		json_out_open(o, NULL, '{');
		json_out_num(o, "at", s->at);
		json_out_str(o, "name", m->name);
		json_out_str(o, "verdict", detect_verdict_name(m->result.verdict));
		json_out_num(o, "rel", m->result.rel);
		json_out_num(o, "lo", m->result.lo);
		json_out_num(o, "hi", m->result.hi);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
	json_out_close(o, '}');
}

static void put_checks(struct json_out *o, const struct judged_checks *c)
{
	if (!c || !c->n)
		return;
	json_out_open(o, "checks", '[');
	for (size_t k = 0; k < c->n; k++) {
		const struct control_check *x = &c->check[k];

		json_out_open(o, NULL, '{');
		json_out_str(o, "name", x->name);
		json_out_num(o, "rel", x->rel);
		json_out_num(o, "lo", x->lo);
		json_out_num(o, "hi", x->hi);
		json_out_num(o, "p", x->p);
		json_out_int(o, "n", x->n);
		json_out_bool(o, "ok", x->ok);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
}

static void put_finding(struct json_out *o, const struct judged *j, const struct finding *x)
{
	const struct judged_metric *lead = &j->metrics.items[x->lead];

	json_out_open(o, NULL, '{');
	json_out_str(o, "headline", lead->name);
	json_out_str(o, "verdict", detect_verdict_name(lead->result.verdict));
	json_out_num(o, "rel", lead->result.rel);
	json_out_num(o, "lo", lead->result.lo);
	json_out_num(o, "hi", lead->result.hi);
	put_checks(o, judged_checks_of(j, x->lead));
	if (x->ladder_name)
		put_ladder(o, j, x);
	json_out_open(o, "same", '[');
	vec_foreach (i, &x->same)
		json_out_str(o, NULL, j->metrics.items[*i].name);
	json_out_close(o, ']');
	json_out_open(o, "follows", '[');
	vec_foreach (i, &x->follows) {
		json_out_open(o, NULL, '{');
		json_out_str(o, "name", j->metrics.items[*i].name);
		json_out_num(o, "rel", j->metrics.items[*i].result.rel);
		json_out_num(o, "per_work", j->findings.per_work[*i]);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
	json_out_open(o, "movers", '[');
	vec_foreach (i, &x->movers)
		put_mover(o, j, *i);
	json_out_close(o, ']');
	if (x->movers_more)
		json_out_int(o, "movers_more", (long)x->movers_more);
	json_out_open(o, "text", '[');
	vec_foreach (t, &x->text)
		json_out_str(o, NULL, *t);
	json_out_close(o, ']');
	json_out_close(o, '}');
}

void judged_write(const struct judged *j, const struct runs *base, const struct runs *head,
		  struct strbuf *text)
{
	struct json_out out = { .b = text }, *o = &out;
	const struct findings *f = &j->findings;

	json_out_open(o, NULL, '{');
	json_out_str(o, "format", "kperfbot-verdict/1");
	json_out_str(o, "base", base->kernel ? base->kernel : "");
	json_out_str(o, "head", head->kernel ? head->kernel : "");
	json_out_open(o, "findings", '[');
	vec_foreach (x, &f->items)
		put_finding(o, j, x);
	json_out_close(o, ']');
	if (f->more)
		json_out_int(o, "findings_more", (long)f->more);
	if (f->work < j->metrics.len)
		json_out_str(o, "work", j->metrics.items[f->work].name);
	json_out_open(o, "metrics", '[');
	for (size_t i = 0; i < j->metrics.len; i++)
		put_metric(o, j, i);
	json_out_close(o, ']');
	put_merged(o, j);
	json_out_open(o, "summary", '{');
	for (int v = 0; v < DETECT_VERDICTS; v++)
		json_out_int(o, detect_verdict_name((enum detect_verdict)v), (long)j->counts[v]);
	json_out_close(o, '}');
	json_out_close(o, '}');
}

json_t *judged_json(const struct judged *j, const struct runs *base, const struct runs *head)
{
	struct strbuf text = STRBUF_INIT;
	json_t *o;

	judged_write(j, base, head, &text);
	o = json_loadb(text.s, text.len, 0, NULL);
	strbuf_done(&text);
	return o;
}
