/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/verdict_json.h"

#include "bot/base/err.h"
#include "bot/detect/units.h"

#include <math.h>
#include <string.h>

static void set_num(json_t *o, const char *key, double v)
{
	if (isfinite(v))
		(void)json_object_set_new(o, key, json_real(v));
}

static void set_int(json_t *o, const char *key, long v)
{
	(void)json_object_set_new(o, key, json_integer(v));
}

static void set_str(json_t *o, const char *key, const char *v)
{
	(void)json_object_set_new(o, key, json_string(v));
}

static json_t *side_json(const struct detect_side *s)
{
	json_t *o = json_object();

	set_int(o, "n", s->runs);
	set_int(o, "boots", s->boots);
	set_int(o, "units", s->units);
	if (s->dropped)
		set_int(o, "dropped", s->dropped);
	set_num(o, "center", s->center);
	set_num(o, "sd", s->sd);
	if (s->nmodes) {
		json_t *modes = json_array();

		for (int i = 0; i < s->nmodes; i++) {
			json_t *m = json_object();

			set_num(m, "share", s->modes[i].share);
			set_num(m, "center", s->modes[i].center);
			(void)json_array_append_new(modes, m);
		}
		(void)json_object_set_new(o, "modes", modes);
	}
	return o;
}

static int more_runs(const struct detect_result *r)
{
	int units = r->base.units < r->head.units ? r->base.units : r->head.units;
	int per_unit = r->base.units ? (r->base.runs + r->base.units - 1) / r->base.units : 1;

	if (r->notes & DETECT_NOTE_ONE_BOOT)
		units = per_unit = 1;
	return r->more_units > units ? (r->more_units - units) * per_unit : 0;
}

static json_t *power_json(const struct detect_result *r)
{
	json_t *o = json_object();

	set_num(o, "detectable", r->mde);
	set_int(o, "more_runs", more_runs(r));
	if (r->more_units)
		set_int(o, "next_look", r->more_units);
	if (r->units_needed)
		set_int(o, "units_needed", r->units_needed);
	return o;
}

static json_t *notes_json(const struct detect_result *r)
{
	json_t *notes = json_array();
	char buf[160];

	for (int b = 0; b < DETECT_NOTES; b++) {
		enum detect_note bit = (enum detect_note)(1U << b);

		if (r->notes & bit)
			(void)json_array_append_new(
				notes, json_string(detect_note_text(r, bit, buf, sizeof(buf))));
	}
	return notes;
}

json_t *verdict_json(const char *name, const char *unit, enum detect_better better, bool headline,
		     const struct detect_result *r)
{
	json_t *o = json_object();

	set_str(o, "name", name);
	if (unit && unit[0])
		set_str(o, "unit", unit);
	set_str(o, "better", detect_better_name(better));
	(void)json_object_set_new(o, "headline", json_boolean(headline));
	set_str(o, "verdict", detect_verdict_name(r->verdict));
	set_num(o, "rel", r->rel);
	set_num(o, "lo", r->lo);
	set_num(o, "hi", r->hi);
	set_num(o, "level", r->level);
	set_num(o, "abs", r->abs);
	set_num(o, "abs_lo", r->abs_lo);
	set_num(o, "abs_hi", r->abs_hi);
	set_num(o, "fresh_rel", r->fresh_rel);
	set_num(o, "p", r->p);
	set_num(o, "q", r->q);
	set_num(o, "t", r->t);
	set_num(o, "df", r->df);
	set_int(o, "look", r->look);
	if (r->candidate_look)
		set_int(o, "candidate_look", r->candidate_look);
	set_str(o, "scale", r->ln_scale ? "ln" : "raw");
	(void)json_object_set_new(o, "base", side_json(&r->base));
	(void)json_object_set_new(o, "head", side_json(&r->head));
	(void)json_object_set_new(o, "power", power_json(r));
	(void)json_object_set_new(o, "notes", notes_json(r));
	return o;
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
	for (size_t i = 0; i < 2 && i < json_array_size(modes); i++) {
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

static json_t *merged_json(const struct judged *j)
{
	json_t *groups = json_array();

	for (int g = 0; g < j->groups; g++)
		(void)json_array_append_new(groups, json_array());
	vec_foreach (m, &j->metrics) {
		if (m->group)
			(void)json_array_append_new(json_array_get(groups, (size_t)m->group - 1),
						    json_string(m->name));
	}
	return groups;
}

json_t *judged_json(const struct judged *j, const struct runs *base, const struct runs *head)
{
	json_t *o = json_object(), *metrics = json_array(), *summary = json_object();

	set_str(o, "format", "kperfbot-verdict/1");
	set_str(o, "base", base->kernel ? base->kernel : "");
	set_str(o, "head", head->kernel ? head->kernel : "");
	vec_foreach (m, &j->metrics)
		(void)json_array_append_new(metrics, verdict_json(m->name, m->unit, m->better,
								  m->headline, &m->result));
	(void)json_object_set_new(o, "metrics", metrics);
	(void)json_object_set_new(o, "merged", merged_json(j));
	for (int v = 0; v < DETECT_VERDICTS; v++)
		set_int(summary, detect_verdict_name((enum detect_verdict)v), (long)j->counts[v]);
	(void)json_object_set_new(o, "summary", summary);
	return o;
}
