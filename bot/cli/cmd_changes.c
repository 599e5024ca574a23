/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot changes: where histories changed, from a file alone. */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/base/visible.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/detect/changes_json.h"
#include "bot/detect/json_write.h"

#include <math.h>
#include <string.h>

#define CHANGES_FILE_MAX ((size_t)1 << 30)

/* What the command line asks for. */
struct request {
	struct changes_options options;
	const char *control;
	bool online;
};

/* Over all series. */
struct tally {
	size_t judged;
	size_t few;
	size_t worse;
	size_t disordered;
};

/* Missing files have a code of their own elsewhere; a script wants just "fatal". */
static int fatal(const struct cli *cli, const struct err *e)
{
	(void)cli_fail(cli, e);
	return EXIT_FATAL;
}

static int take_better(void *to, const char *text, struct err *e)
{
	int v = detect_better_parse(text);

	if (v < 0)
		return err_set(e, ERR_INVAL, "'%.40s' is none of higher, lower, none", text);
	*(enum detect_better *)to = (enum detect_better)v;
	return 0;
}

static int take_sensitivity(void *to, const char *text, struct err *e)
{
	int v = changes_sensitivity_parse(text);

	if (v < 0)
		return err_set(e, ERR_INVAL, "'%.40s' is none of balanced, sensitive, online",
			       text);
	*(enum changes_sensitivity *)to = (enum changes_sensitivity)v;
	return 0;
}

static int take_min_effect(void *to, const char *text, struct err *e)
{
	double *effect = to;
	int r = parse_ratio(text, effect, e);

	if (r == 0 && !(*effect > 0))
		return err_set(e, ERR_RANGE, "'%.40s' is not above 0", text);
	return r;
}

/* Return: index of the file argument; -1 after a usage message. */
static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	struct changes_options *o = &q->options;
	const struct cli_option options[] = {
		CLI_TAKE("better", take_better, &o->better),
		CLI_TAKE("min-effect", take_min_effect, &o->min_effect),
		CLI_TAKE("sensitivity", take_sensitivity, &o->sensitivity),
		CLI_TEXT("control", &q->control),
		CLI_FLAG("online", &q->online),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));
	struct changes none = { 0 };
	struct err e = { 0 };

	if (at < 0)
		return -1;
	if (argc - at != 1) {
		(void)cli_usage(cli, "want one file, got %d", argc - at);
		return -1;
	}
	if (changes_find(NULL, 0, NULL, o, &none, &e) < 0) {
		(void)cli_usage(cli, "%s", e.msg);
		return -1;
	}
	if (q->control && !strcmp(q->control, "-") && !strcmp(argv[at], "-")) {
		(void)cli_usage(cli, "standard input can be read only once");
		return -1;
	}
	return at;
}

static int read_series(const char *path, struct strbuf *text, bool each_row,
		       struct series_file *ret, struct err *e)
{
	if (!text->len && file_read(path, CHANGES_FILE_MAX, text, e) < 0)
		return e->code;
	if (series_parse(strbuf_str(text), text->len, each_row, ret, e) < 0)
		return err_wrap(e, "%s", path);
	return 0;
}

/* --control names a series of the file, or else another file. */
static int read_all(const char *path, const struct request *q, struct series_file *file,
		    struct series_file *controls, bool *ret_inside, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT, other = STRBUF_INIT;
	int r = read_series(path, &text, false, file, e);

	*ret_inside = false;
	if (r < 0 || !q->control)
		return r;
	if (!series_file_has(file, q->control))
		return read_series(q->control, &other, true, controls, e);
	*ret_inside = true;
	r = read_series(path, &text, true, controls, e);
	if (r == 0)
		series_file_keep(controls, q->control);
	return r;
}

/* The series' name for people; bytes that steer a terminal are shown. */
static void print_name(const struct series *s)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	visible_add(&b, s->name, strlen(s->name));
	if (*s->machine) {
		strbuf_addstr(&b, *s->name ? " on " : "on ");
		visible_add(&b, s->machine, strlen(s->machine));
	}
	(void)printf("%s%s", strbuf_str(&b), b.len ? ": " : "");
}

static void print_place(const struct series *s, const struct change_point *c)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const char *commit = s->commits.items[c->index];

	visible_add(&b, commit, strlen(commit));
	(void)printf("%s%srow %zu", strbuf_str(&b), b.len ? ", " : "", s->rows.items[c->index]);
	if (c->lo != c->hi)
		(void)printf(" (%zu to %zu)", s->rows.items[c->lo], s->rows.items[c->hi]);
}

static void print_change(const struct series *s, const struct change_point *c)
{
	(void)printf("  %-11s ", change_kind_name(c->kind));
	print_place(s, c);
	(void)printf(": %.6g -> %.6g", c->before, c->after);
	if (isfinite(c->rel))
		(void)printf("  %+.2f%%", 100 * c->rel);
	if (c->worse)
		(void)printf(" %s", c->worse > 0 ? "worse" : "better");
	if (c->p < 1e-300)
		(void)printf("  p<1e-300");
	else
		(void)printf("  p=%.2g", c->p);
	if (c->seen_at != CHANGE_NEVER)
		(void)printf("  seen at row %zu", s->last_rows.items[c->seen_at]);
	if (c->gone_at != CHANGE_NEVER)
		(void)printf(", gone at row %zu", s->last_rows.items[c->gone_at]);
	(void)printf("%s%s\n", c->reason ? "  " : "", change_reason_text(c->reason));
}

static void print_series(const struct series *s, const struct changes *c)
{
	print_name(s);
	(void)printf("%zu commit%s", s->points.len, s->points.len == 1 ? "" : "s");
	if (s->gaps)
		(void)printf(", %zu value%s not known", s->gaps, s->gaps == 1 ? "" : "s");
	if (isfinite(c->sd_rel))
		(void)printf(", noise %.2f%%", 100 * c->sd_rel);
	else if (isfinite(c->sd))
		(void)printf(", noise %.4g", c->sd);
	if (c->few)
		(void)printf(", fewer than %d known: nothing is said", CHANGES_POINTS_MIN);
	else if (!c->n)
		(void)printf(", no change");
	(void)printf("\n");
	for (size_t i = 0; i < c->n; i++)
		print_change(s, &c->items[i]);
}

static int find_changes(const struct request *q, const struct series *s,
			const struct series_file *controls, struct changes *ret, struct err *e)
{
	const struct series *build = series_file_control(controls, s);
	struct changes_control k = { .again = s->again.items, .nagain = s->again.len };
	const struct changes_control *control = build || s->again.len ? &k : NULL;
	int r;

	if (build) {
		k.points = build->points.items;
		k.npoints = build->points.len;
	}
	if (q->online)
		r = changes_online(s->points.items, s->points.len, 0, control, &q->options, ret, e);
	else
		r = changes_find(s->points.items, s->points.len, control, &q->options, ret, e);
	return r < 0 ? err_wrap(e, "series '%.80s'", s->name) : 0;
}

/* A few commits are measured late; where it is every fourth, the rows may not be in commit order. */
static bool is_disordered(const struct series *s)
{
	size_t back = 0;
	double last = (double)NAN;

	vec_foreach (p, &s->points) {
		back += p->time < last;
		last = isfinite(p->time) ? p->time : last;
	}
	return back * 4 >= s->points.len && back > 1;
}

static void count(struct tally *t, const struct series *s, const struct changes *c)
{
	t->disordered += is_disordered(s);
	*(c->few ? &t->few : &t->judged) += 1;
	for (size_t i = 0; i < c->n; i++) {
		const struct change_point *p = &c->items[i];

		t->worse += p->worse > 0 && p->kind == CHANGE_STEP && p->gone_at == CHANGE_NEVER;
	}
}

static void print_notes(const struct cli *cli, const struct request *q, const struct tally *t,
			const struct series_file *f)
{
	if (!f->items.len)
		cli_note(cli, "the file has no rows");
	if (t->few)
		cli_note(cli, "%zu series with fewer than %d commits: nothing is said of them",
			 t->few, CHANGES_POINTS_MIN);
	if (t->disordered)
		cli_note(cli,
			 "%zu series whose times go back and forth: rows count in the order of the "
			 "file, not of time",
			 t->disordered);
	if (q->control && !f->has_time)
		cli_note(cli, "there is no column 'time': the control build tells nothing");
}

int cmd_changes(struct cli *cli, int argc, char **argv)
{
	_cleanup_(series_file_done) struct series_file file = { 0 }, controls = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct json_out out = { .b = &text };
	struct request q = { 0 };
	struct tally tally = { 0 };
	struct err e = { 0 };
	bool inside;
	int at = parse_options(cli, argc, argv, &q);

	if (at < 0)
		return EXIT_USAGE;
	if (read_all(argv[at], &q, &file, &controls, &inside, &e) < 0)
		return fatal(cli, &e);
	changes_json_open(&out);
	vec_foreach (s, &file.items) {
		_cleanup_(changes_done) struct changes c = { 0 };

		if (inside && !strcmp(s->name, q.control))
			continue;
		if (find_changes(&q, s, &controls, &c, &e) < 0)
			return fatal(cli, &e);
		count(&tally, s, &c);
		if (cli->json)
			changes_json_add(&out, s, &c);
		else
			print_series(s, &c);
	}
	changes_json_close(&out);
	print_notes(cli, &q, &tally, &file);
	if (cli->json)
		(void)printf("%s\n", strbuf_str(&text));
	if (tally.worse)
		return EXIT_WORSE;
	return tally.judged ? EXIT_DONE : EXIT_CANNOT_TELL;
}
