/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot judge: compare runs that were measured anywhere, from files alone. */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/judge_print.h"
#include "bot/cli/options.h"
#include "bot/detect/verdict_json.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#define JUDGE_FILE_MAX ((size_t)1 << 30)

/* What the command line asks for. */
struct request {
	struct detect_options options;
	int looks[DETECT_LOOKS_MAX];
	const char *history;
	const char *glob;
};

/* Compared data; history is one struct runs a kernel. */
struct input {
	struct runs base;
	struct runs head;
	VEC(struct runs) history;
};

static void input_done(struct input *in)
{
	runs_done(&in->base);
	runs_done(&in->head);
	vec_foreach (r, &in->history)
		runs_done(r);
	vec_done(&in->history);
}

/* Missing files and conflicts have codes of their own elsewhere; a script wants just "fatal". */
static int fatal(const struct cli *cli, struct err *e)
{
	_cleanup_(freep) char *line = judge_visible(e->msg);

	if (!cli->json)
		(void)snprintf(e->msg, sizeof(e->msg), "%s", line);
	(void)cli_fail(cli, e);
	return EXIT_FATAL;
}

static int take_looks(void *to, const char *text, struct err *e)
{
	struct request *q = to;
	const char *s = text;
	size_t n = 0;

	for (;;) {
		size_t len = strcspn(s, ",");
		_cleanup_(freep) char *part = xstrndup(s, len);
		int64_t v;
		int r = parse_i64(part, 1, DETECT_LOOK_LIMIT, &v, e);

		if (r < 0)
			return r;
		if (n == DETECT_LOOKS_MAX)
			return err_set(e, ERR_INVAL, "more than %d looks", DETECT_LOOKS_MAX);
		q->looks[n++] = (int)v;
		if (!s[len])
			break;
		s += len + 1;
	}
	q->options.looks = q->looks;
	q->options.nlooks = n;
	return 0;
}

static int take_min_effect(void *to, const char *text, struct err *e)
{
	struct detect_options *o = to;
	int r = parse_ratio(text, &o->min_effect, e);

	o->monitor_min_effect = o->min_effect;
	/* Who does not want to hear of 5 % does not want runs to find 4 % either. */
	o->same_effect = fmax(.75 * o->target_effect, o->min_effect);
	o->target_effect = fmax(o->target_effect, o->min_effect);
	return r;
}

static int take_fdr(void *to, const char *text, struct err *e)
{
	struct detect_options *o = to;
	int r = parse_ratio(text, &o->fdr_q, e);

	o->monitor_fdr_q = o->fdr_q;
	return r;
}

/* Return: index of the first file argument; -1 after a usage message. */
static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	struct detect_options *o = &q->options;
	const struct cli_option options[] = {
		CLI_TEXT("history", &q->history),
		CLI_TAKE("looks", take_looks, q),
		CLI_TAKE("min-effect", take_min_effect, o),
		CLI_RATIO("level", &o->level),
		CLI_TAKE("fdr", take_fdr, o),
		CLI_TEXT("metric", &q->glob),
		CLI_FLAG("single-look", &o->single_look),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options)), stdin_used = 0;
	struct err e = { 0 };

	if (at < 0)
		return -1;
	if (argc - at < 2) {
		(void)cli_usage(cli, "want two or more files, got %d", argc - at);
		return -1;
	}
	if (detect_options_check(o, &e) < 0) {
		(void)cli_usage(cli, "%s", e.msg);
		return -1;
	}
	for (int i = at; i < argc; i++)
		stdin_used += !strcmp(argv[i], "-");
	if (stdin_used + (q->history && !strcmp(q->history, "-")) > 1) {
		(void)cli_usage(cli, "standard input can be read only once");
		return -1;
	}
	return at;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void print_notes(const struct cli *cli, const char *path, const struct runs *r, size_t from)
{
	for (size_t i = from; i < r->notes.len; i++) {
		_cleanup_(freep) char *line = judge_visible(r->notes.items[i]);

		cli_note(cli, "%s: %s", path, line);
	}
}

static int read_runs(const struct cli *cli, const char *path, struct runs *r, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	size_t notes = r->notes.len;

	if (file_read(path, JUDGE_FILE_MAX, &text, e) < 0)
		return e->code;
	if (runs_parse(r, strbuf_str(&text), text.len, e) < 0)
		return err_wrap(e, "%s", path);
	print_notes(cli, path, r, notes);
	return 0;
}

/* One more file: its kernel says which side it belongs to. */
static int read_more(const struct cli *cli, const char *path, struct input *in, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(runs_done) struct runs alone = { 0 };
	struct runs *side = NULL;
	size_t notes;
	const char *a = or_empty(in->base.kernel), *b = or_empty(in->head.kernel), *kernel;

	if (file_read(path, JUDGE_FILE_MAX, &text, e) < 0)
		return e->code;
	if (runs_parse(&alone, strbuf_str(&text), text.len, e) < 0)
		return err_wrap(e, "%s", path);
	kernel = or_empty(alone.kernel);
	if (!strcmp(a, b))
		return err_set(e, ERR_INVAL, "%s: both sides are kernel '%s', it has no side", path,
			       a);
	if (!strcmp(kernel, a))
		side = &in->base;
	else if (!strcmp(kernel, b))
		side = &in->head;
	else
		return err_set(e, ERR_INVAL, "%s: kernel is '%s', want '%s' or '%s'", path, kernel,
			       a, b);
	notes = side->notes.len;
	if (runs_parse(side, strbuf_str(&text), text.len, e) < 0)
		return err_wrap(e, "%s", path);
	print_notes(cli, path, side, notes);
	return 0;
}

static int read_history(const struct cli *cli, const char *path, struct input *in, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const char *s, *end;
	int line = 0;

	if (file_read(path, JUDGE_FILE_MAX, &text, e) < 0)
		return e->code;
	s = strbuf_str(&text);
	end = s + text.len;
	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = nl ? (size_t)(nl - s) : (size_t)(end - s);
		struct runs r = { 0 };

		line++;
		if (strspn(s, " \t\r") < len) {
			if (runs_parse(&r, s, len, e) < 0) {
				runs_done(&r);
				return err_wrap(e, "%s: object in line %d", path, line);
			}
			if (line == 1)
				print_notes(cli, path, &r, 0);
			vec_push(&in->history, r);
		}
		s += len + 1;
	}
	return 0;
}

static int read_all(const struct cli *cli, char **files, int n, const struct request *q,
		    struct input *in, struct err *e)
{
	const char *a, *b;

	if (read_runs(cli, files[0], &in->base, e) < 0 ||
	    read_runs(cli, files[1], &in->head, e) < 0)
		return e->code;
	for (int i = 2; i < n; i++) {
		if (read_more(cli, files[i], in, e) < 0)
			return e->code;
	}
	if (q->history && read_history(cli, q->history, in, e) < 0)
		return e->code;
	a = or_empty(in->base.machine);
	b = or_empty(in->head.machine);
	if (a[0] && b[0] && strcmp(a, b) != 0) {
		_cleanup_(freep) char *x = judge_visible(a);
		_cleanup_(freep) char *y = judge_visible(b);

		cli_note(cli, "base was measured on '%s', head on '%s'", x, y);
	}
	return 0;
}

static bool glob_matches(const char *name, const void *arg)
{
	return fnmatch(arg, name, 0) == 0;
}

int cmd_judge(struct cli *cli, int argc, char **argv)
{
	_cleanup_(input_done) struct input in = { 0 };
	_cleanup_(judged_done) struct judged j = { 0 };
	struct request q = { .options = detect_options_default() };
	struct judged_plan plan = { .options = &q.options };
	struct err e = { 0 };
	int first = parse_options(cli, argc, argv, &q);

	if (first < 0)
		return EXIT_USAGE;
	if (read_all(cli, argv + first, argc - first, &q, &in, &e) < 0)
		return fatal(cli, &e);
	plan.history = in.history.items;
	plan.nhistory = in.history.len;
	if (q.glob) {
		plan.want = glob_matches;
		plan.want_arg = q.glob;
	}
	if (judged_compare(&in.base, &in.head, &plan, &j, &e) < 0) {
		if (q.glob)
			(void)err_wrap(&e, "--metric '%.80s'", q.glob);
		return fatal(cli, &e);
	}
	if (!j.headlines)
		cli_note(cli, "no headline metric is named: all weigh the same");
	if (cli->json) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		judged_write(&j, &in.base, &in.head, &text);
		strbuf_addch(&text, '\n');
		(void)fwrite(text.s, 1, text.len, stdout);
	} else {
		judge_print(cli, &j);
	}
	return judged_exit(&j);
}
