/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/report_json.h"

#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/db/db.h"
#include "bot/detect/findings.h"
#include "bot/jobs/job_ctx.h"
#include "bot/jobs/report_evidence.h"
#include "bot/mail/recipients.h"
#include "bot/mail/trailers.h"
#include "bot/store/comparison.h"
#include "bot/store/job.h"
#include "bot/store/regression_fix.h"
#include "bot/store/tree.h"

#include <math.h>
#include <string.h>

/* Of a metric that is told beside the headline: false discovery rate, and the least change. */
#define MOVERS_FDR	  0.01
#define MOVERS_MIN_EFFECT 0.01

/* All that the report is made from. */
struct source {
	struct job_ctx *c;
	const struct regression *reg;
	struct job job;
	struct commit culprit;
	char bisection[9];
	json_t *out;
};

static void set_new(json_t *o, const char *key, json_t *value)
{
	(void)json_object_set_new(o, key, value);
}

static json_t *side_json(const struct db_rows *rows, int row, int col)
{
	json_t *o = json_object();

	json_set_f64(o, "mean", db_f64(rows, row, col));
	json_set_f64(o, "sd", db_f64(rows, row, col + 1));
	json_set_i64(o, "n", db_i64(rows, row, col + 2));
	return o;
}

static json_t *metric_json(const char *name, const char *unit, const char *better)
{
	json_t *o = json_object();

	json_set_str(o, "name", name);
	json_set_str(o, "unit", unit);
	json_set_str(o, "better", better);
	return o;
}

/* Headline and side metrics of parent and culprit, from the boots made to verify. */
static struct findings_side side_of(const struct db_rows *rows, int row, int col)
{
	return (struct findings_side){ .mean = db_f64(rows, row, col),
				       .sd = db_f64(rows, row, col + 1),
				       .n = (int)db_i64(rows, row, col + 2) };
}

static struct findings_metric metric_of(const struct source *s, const struct db_rows *rows, int row)
{
	struct findings_metric m = { .name = db_str(rows, row, 0), .unit = db_str(rows, row, 1) };
	struct findings_side base = side_of(rows, row, 3), head = side_of(rows, row, 6);

	findings_from_means(&m, &base, &head);
	if (strcmp(m.name, s->reg->metric) != 0)
		return m;
	m.lead = m.moved = true;
	m.verdict = DETECT_REGRESSION;
	m.better = s->reg->rel < 0 ? DETECT_BETTER_HIGHER : DETECT_BETTER_LOWER;
	m.rel = s->reg->rel;
	m.lo = s->reg->lo;
	m.hi = s->reg->hi;
	return m;
}

/* What NAME is for each unit of work tells more than NAME. */
static int row_to_tell(const struct db_rows *rows, const char *name)
{
	_cleanup_(freep) char *per_op = xasprintf("%s.per_op", name);
	int row = -1;

	for (int i = 0; i < rows->n; i++) {
		if (!strcmp(db_str(rows, i, 0), per_op))
			return i;
		if (!strcmp(db_str(rows, i, 0), name))
			row = i;
	}
	return row;
}

static void add_mover(const struct findings_metric *m, const struct db_rows *rows, json_t *list)
{
	int row = row_to_tell(rows, m->name);
	json_t *o = json_object();
	double base, head;

	base = db_f64(rows, row, 3);
	head = db_f64(rows, row, 6);
	json_set_str(o, "name", db_str(rows, row, 0));
	json_set_str(o, "unit", db_str(rows, row, 1));
	if (findings_is_share(m))
		json_set_f64(o, "points", m->abs);
	else if (base != 0)
		json_set_f64(o, "rel", head / base - 1);
	set_new(o, "base", side_json(rows, row, 3));
	set_new(o, "head", side_json(rows, row, 6));
	(void)json_array_append_new(list, o);
}

/* The other metrics that say something new, the most telling first, and all of it in sentences. */
static void add_findings(struct source *s, const struct db_rows *rows, json_t *list)
{
	size_t n = (size_t)rows->n;
	_cleanup_(freep) struct findings_metric *m = xcalloc(n + 1, sizeof(*m));
	_cleanup_(findings_done) struct findings f = { 0 };
	json_t *text = json_array();

	set_new(s->out, "findings", text);
	for (size_t i = 0; i < n; i++)
		m[i] = metric_of(s, rows, (int)i);
	findings_mark_moved(m, n, MOVERS_FDR, MOVERS_MIN_EFFECT);
	findings_make(m, n, &f);
	if (!f.items.len)
		return;
	for (size_t i = 0; i < f.items.items[0].movers.len; i++)
		add_mover(&m[f.items.items[0].movers.items[i]], rows, list);
	vec_foreach (t, &f.items.items[0].text)
		(void)json_array_append_new(text, json_string(*t));
}

static int add_metrics(struct source *s, struct err *e)
{
	json_t *effect = json_object();
	json_t *list = json_array();
	struct db_rows rows = { 0 };
	int r;

	set_new(s->out, "effect", effect);
	set_new(s->out, "metrics", list);
	json_set_f64(effect, "rel", s->reg->rel);
	json_set_f64(effect, "lo", s->reg->lo);
	json_set_f64(effect, "hi", s->reg->hi);
	json_set_f64(effect, "level", s->reg->level);
	r = db_run(s->c->db, SQL_RUN_SIDES, &rows, e, "isss", s->job.id, s->reg->parent,
		   s->reg->culprit, s->bisection[0] ? s->bisection : NULL);
	if (r == 0)
		add_findings(s, &rows, list);
	for (int i = 0; r == 0 && i < rows.n; i++) {
		if (strcmp(db_str(&rows, i, 0), s->reg->metric) != 0)
			continue;
		set_new(effect, "base", side_json(&rows, i, 3));
		set_new(effect, "head", side_json(&rows, i, 6));
		set_new(s->out, "metric",
			metric_json(s->reg->metric, db_str(&rows, i, 1),
				    s->reg->rel < 0 ? "higher" : "lower"));
	}
	json_set_i64(s->out, "metric_count", rows.n);
	db_rows_done(&rows);
	return r;
}

static json_t *step_json(const struct db_rows *rows, int i)
{
	json_t *o = json_object();

	json_set_i64(o, "n", db_i64(rows, i, 0));
	json_set_str(o, "commit", db_str(rows, i, 1));
	json_set_str(o, "verdict", db_str(rows, i, 2));
	if (!db_null(rows, i, 3))
		json_set_f64(o, "p_bad", db_f64(rows, i, 3));
	if (!db_null(rows, i, 4))
		json_set_f64(o, "rel", db_f64(rows, i, 4));
	json_set_i64(o, "runs", db_i64(rows, i, 6));
	json_set_f64(o, "left", db_f64(rows, i, 7));
	if (db_str(rows, i, 8)[0])
		json_set_str(o, "reason", db_str(rows, i, 8));
	return o;
}

/* The bad end with the commit taken back, against the commit's parent. */
static void add_revert(json_t *b, const json_t *revert)
{
	double rel = json_f64(revert, "rel", NAN), lo = json_f64(revert, "lo", NAN),
	       hi = json_f64(revert, "hi", NAN);
	json_t *o;
	char on[13];

	if (!isfinite(rel) || !isfinite(lo) || !isfinite(hi))
		return;
	o = json_object();
	(void)snprintf(on, sizeof(on), "%s", json_str(revert, "on", ""));
	json_set_str(o, "on", on[0] ? on : NULL);
	json_set_f64(o, "rel", rel);
	json_set_f64(o, "lo", lo);
	json_set_f64(o, "hi", hi);
	set_new(b, "revert", o);
}

static int add_bisection(struct source *s, struct err *e)
{
	json_t *b = json_object();
	json_t *log = json_array();
	json_t *others = json_array();
	json_t *status = NULL, *result = NULL;
	struct db_rows rows = { 0 };
	const json_t *posterior;
	int r;

	set_new(b, "log", log);
	set_new(s->out, "bisection", b);
	set_new(s->out, "runners_up", others);
	r = db_run_one(s->c->db, SQL_BISECTION_OF_REGRESSION, &rows, e, "s", s->reg->id);
	if (r < 0)
		return r;
	(void)snprintf(s->bisection, sizeof(s->bisection), "%s", db_str(&rows, 0, 0));
	json_set_str(s->out, "bisect", s->bisection);
	json_set_str(b, "good", db_str(&rows, 0, 1));
	json_set_str(b, "bad", db_str(&rows, 0, 2));
	r = json_read(db_str(&rows, 0, 3), strlen(db_str(&rows, 0, 3)), "status", &status, e);
	if (r == 0)
		r = json_read(db_str(&rows, 0, 4), strlen(db_str(&rows, 0, 4)), "result", &result,
			      e);
	db_rows_done(&rows);
	if (r < 0) {
		json_decref(status);
		return r;
	}
	add_revert(b, json_object_get(result, "revert"));
	json_decref(result);
	json_set_i64(b, "commits", json_i64(status, "commits", 0));
	posterior = json_object_get(status, "posterior");
	for (size_t i = 0; i < json_array_size(posterior) && json_array_size(others) < 3; i++) {
		json_t *o = json_array_get(posterior, i);

		if (strcmp(json_str(o, "commit", ""), s->reg->culprit) != 0 &&
		    json_f64(o, "p", 0) >= 0.001)
			(void)json_array_append(others, o);
	}
	json_decref(status);
	r = db_run(s->c->db, SQL_BISECTION_STEPS, &rows, e, "s", s->bisection);
	if (r < 0)
		return r;
	json_set_i64(b, "steps", rows.n);
	for (int i = 0; i < rows.n; i++)
		(void)json_array_append_new(log, step_json(&rows, i));
	db_rows_done(&rows);
	return 0;
}

static int add_fixes(struct source *s, struct err *e)
{
	json_t *list = NULL;
	int r = fix_list(s->c->db, s->reg->id, &list, e);

	if (r == 0)
		set_new(s->out, "possibly_fixed", list);
	return r;
}

static void copy_str(json_t *to, const char *to_key, const json_t *from, const char *key)
{
	json_set_str(to, to_key, json_str(from, key, NULL));
}

static void add_commands(struct source *s, const json_t *facts)
{
	json_t *repro = json_object();
	json_t *list = json_array();
	const json_t *commands = json_object_get(facts, "commands");
	_cleanup_(freep) char *note = NULL;

	for (size_t i = 0; i < json_array_size(commands); i++) {
		const json_t *argv = json_array_get(commands, i);
		_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

		for (size_t k = 0; k < json_array_size(argv); k++)
			strbuf_addf(&line, "%s%s", k ? " " : "./",
				    json_string_value(json_array_get(argv, k)));
		(void)json_array_append_new(list, json_string(strbuf_str(&line)));
	}
	set_new(repro, "commands", list);
	note = xasprintf("kperfbot's bundled programs, options as in %s", s->job.suite);
	json_set_str(repro, "note", note);
	if (json_array_size(list))
		set_new(s->out, "reproduce", repro);
	else
		json_decref(repro);
}

static int add_box(struct source *s, struct err *e)
{
	json_t *box = json_object();
	_cleanup_(json_decrefp) json_t *facts = NULL;
	struct db_rows rows = { 0 };
	char accel[16];
	int r;

	set_new(s->out, "box", box);
	r = db_run_one(s->c->db, SQL_BOOT_FACTS_OF, &rows, e, "is", s->job.id, s->reg->culprit);
	if (r < 0)
		return r;
	json_set_str(s->out, "machine", db_str(&rows, 0, 0));
	(void)snprintf(accel, sizeof(accel), "%.*s", (int)strcspn(db_str(&rows, 0, 1), " "),
		       db_str(&rows, 0, 1));
	json_set_str(box, "accel", accel[0] ? accel : NULL);
	r = json_read(db_str(&rows, 0, 2), strlen(db_str(&rows, 0, 2)), "facts", &facts, e);
	db_rows_done(&rows);
	if (r < 0)
		return r;
	json_set_i64(box, "cpus", json_i64(facts, "cpus", 0));
	json_set_i64(box, "memory_bytes", json_i64(facts, "mem_total_bytes", 0));
	json_set_i64(box, "swap_bytes", json_i64(facts, "swap_total_bytes", 0));
	copy_str(box, "thp", facts, "thp");
	copy_str(box, "governor", facts, "governor");
	add_commands(s, facts);
	return 0;
}

static int add_compiler(struct source *s, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	r = db_run(s->c->db, SQL_BUILD_OF_COMMIT, &rows, e, "s", s->reg->culprit);
	if (r == 0 && rows.n)
		json_set_str(json_object_get(s->out, "box"), "compiler", db_str(&rows, 0, 0));
	if (r == 0)
		db_rows_done(&rows);
	return r;
}

static struct recipient_addr *tree_lists(const struct source *s, const char ***ret_names,
					 size_t *ret_n)
{
	const char **lists = config_all(s->c->config, "tree", s->reg->tree, "list");
	size_t n = 0;
	struct recipient_addr *a;

	while (lists[n])
		n++;
	a = xcalloc(n, sizeof(*a));
	for (size_t i = 0; i < n; i++)
		a[i] = (struct recipient_addr){ .addr = lists[i], .reason = "list of the tree" };
	*ret_names = lists;
	*ret_n = n;
	return a;
}

static void put_recipients(struct source *s, const struct recipients *who)
{
	json_t *list = json_array();

	vec_foreach (r, &who->chosen) {
		json_t *o = json_object();

		json_set_str(o, "addr", r->addr);
		json_set_str(o, "name", r->name);
		json_set_str(o, "reason", r->reason);
		json_set_bool(o, "to", r->to);
		(void)json_array_append_new(list, o);
	}
	set_new(s->out, "recipients", list);
}

static int add_recipients(struct source *s, struct err *e)
{
	const struct config *cfg = s->c->config;
	const char *tree = s->reg->tree;
	_cleanup_(trailers_done) struct trailers trailers = { 0 };
	_cleanup_(recipients_done) struct recipients who = { 0 };
	_cleanup_(freep) const char **stop = config_all(cfg, "mail", NULL, "stop");
	_cleanup_(freep) const char **names = NULL;
	_cleanup_(freep) struct recipient_addr *lists = NULL;
	struct recipients_rules rules = { .trailers = &trailers, .stop = stop };
	int r;

	r = trailers_parse(s->culprit.message, s->culprit.message_len, &trailers, e);
	if (r == 0)
		r = lives_in_parse(config_str(cfg, "tree", tree, "lives-in"), &rules.lives_in, e);
	if (r < 0)
		return r;
	while (stop[rules.n_stop])
		rules.n_stop++;
	rules.owner.addr = config_str(cfg, "tree", tree, "owner");
	if (!strcmp(config_str(cfg, "tree", tree, "mail"), "operator")) {
		rules.lives_in = LIVES_IN_PRIVATE;
		rules.owner.addr = config_str(cfg, "mail", NULL, "operator");
	}
	if (!rules.owner.addr)
		rules.owner.addr = config_str(cfg, "mail", NULL, "operator");
	rules.author = (struct recipient_addr){ .name = s->culprit.author_name,
						.addr = s->culprit.author_mail };
	rules.committer = (struct recipient_addr){ .name = s->culprit.committer_name,
						   .addr = s->culprit.committer_mail };
	rules.own_host = config_str(cfg, "mail", NULL, "host");
	lists = tree_lists(s, &names, &rules.n_subsystem);
	rules.subsystem = lists;
	recipients_choose(&rules, &who);
	put_recipients(s, &who);
	return 0;
}

static void add_frame(struct source *s, uint64_t at_s)
{
	const struct config *cfg = s->c->config;
	json_t *culprit = json_object();
	char at[32];

	json_set_str(s->out, "format", "kperfbot-report/1");
	json_set_str(s->out, "id", s->reg->id);
	json_set_i64(s->out, "seq", 1);
	json_set_str(s->out, "at", clock_format(at_s * USEC_PER_SEC, at));
	json_set_str(s->out, "host", config_str(cfg, "mail", NULL, "host"));
	json_set_str(s->out, "url", config_str(cfg, "kperfbot", NULL, "url"));
	json_set_str(s->out, "contact", config_str(cfg, "mail", NULL, "operator"));
	/* Answers by mail are not read by this version. */
	json_set_bool(s->out, "replies", false);
	json_set_str(s->out, "direction", "worse");
	json_set_str(s->out, "class", s->reg->class);
	json_set_str(s->out, "tree", s->reg->tree);
	json_set_str(s->out, "branch", s->reg->branch);
	json_set_str(s->out, "suite", s->job.suite);
	json_set_bool(s->out, "interleaved", true);
	set_new(s->out, "params", json_deep_copy(s->job.params));
	json_set_str(json_object_get(s->out, "params"), "test", s->job.test);
	json_set_str(culprit, "commit", s->reg->culprit);
	json_set_str(culprit, "title", s->culprit.subject);
	json_set_f64(culprit, "p", s->reg->p);
	json_set_str(culprit, "parent", s->reg->parent);
	json_set_str(culprit, "lives_in", config_str(cfg, "tree", s->reg->tree, "lives-in"));
	set_new(s->out, "culprit", culprit);
}

int report_json(struct job_ctx *c, const struct regression *reg, uint64_t at_s, json_t **ret,
		struct err *e)
{
	struct source s = { .c = c, .reg = reg, .out = json_object() };
	int r;

	r = job_get(c->db, reg->job, &s.job, e);
	if (r == 0)
		r = commit_get(c->db, reg->culprit, &s.culprit, e);
	if (r == 0) {
		add_frame(&s, at_s);
		r = add_bisection(&s, e);
	}
	if (r == 0)
		r = add_metrics(&s, e);
	if (r == 0)
		r = report_evidence(c->db, reg, s.out, e);
	if (r == 0)
		r = add_fixes(&s, e);
	if (r == 0)
		r = add_box(&s, e);
	if (r == 0)
		r = add_compiler(&s, e);
	if (r == 0)
		r = add_recipients(&s, e);
	job_done(&s.job);
	commit_done(&s.culprit);
	if (r < 0) {
		json_decref(s.out);
		return r;
	}
	*ret = s.out;
	return 0;
}
