/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot bisect replay: the posterior after each step of a bisection that was logged. */
#include "bot/cli/cmd_bisect_replay.h"

#include "bisect/log.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/watch/range.h"
#include "bot/watch/subject.h"

#include <git2.h>
#include <math.h>
#include <string.h>

#define TOP_MOST 100

size_t replay_top(const double *p, size_t n, size_t most, struct replay_likely *ret)
{
	size_t k = 0;

	for (size_t c = 0; c < n; c++) {
		size_t at = k;

		while (at > 0 && ret[at - 1].p < p[c])
			at--;
		if (at == most || p[c] <= 0)
			continue;
		if (k < most)
			k++;
		memmove(&ret[at + 1], &ret[at], (k - 1 - at) * sizeof(*ret));
		ret[at] = (struct replay_likely){ c, p[c] };
	}
	return k;
}

double replay_left(const double *p, size_t n)
{
	double bits = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i] > 0)
			bits -= p[i] * log2(p[i]);
	return exp2(bits);
}

struct replay {
	const struct cli *cli;
	const struct replay_options *q;
	const struct bisect_log *log;
	struct bisect_state s;
	double *p;
	json_t *steps;
	int step;
	struct replay_cost cost;
};

static const char *hash_of(const struct replay *r, int commit)
{
	if (commit == BISECT_GOOD_END)
		return r->log->good[0] ? r->log->good : "good";
	return r->log->graph.commits[commit].hash;
}

static const char *verdict_of(struct replay *r, int commit, double p_bad)
{
	if (commit != BISECT_GOOD_END && r->s.skip[commit])
		return "skip";
	return p_bad >= 0.9 ? "bad" : p_bad <= 0.1 ? "good" : "unsure";
}

static double mean_of(const struct bisect_state *s, int commit)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].commit == commit) {
			sum += s->runs[i].y;
			n++;
		}
	return n ? sum / n : (double)NAN;
}

static json_t *likely_json(const struct replay *r, const struct replay_likely *top, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_set_str(o, "commit", hash_of(r, (int)top[i].commit));
		json_set_f64(o, "p", top[i].p);
		(void)json_array_append_new(list, o);
	}
	return list;
}

/* A step, for both forms. */
struct told {
	int commit;
	int runs;
	double p_bad;
	struct bisect_summary sum;
	const struct replay_likely *top;
	size_t n_top;
};

static void step_json(struct replay *r, const struct told *t)
{
	json_t *o = json_object();

	json_set_i64(o, "step", r->step);
	json_set_str(o, "commit", hash_of(r, t->commit));
	json_set_str(o, "verdict", verdict_of(r, t->commit, t->p_bad));
	json_set_i64(o, "runs", t->runs);
	json_set_f64(o, "level", mean_of(&r->s, t->commit));
	json_set_f64(o, "p_bad", t->p_bad);
	json_set_f64(o, "p_none", t->sum.p_none);
	json_set_f64(o, "left", exp2(t->sum.bits));
	json_set_f64(o, "bits", t->sum.bits);
	json_set_i64(o, "hold95", (int64_t)t->sum.hold);
	json_set_f64(o, "minutes", r->cost.minutes);
	(void)json_object_set_new(o, "likeliest", likely_json(r, t->top, t->n_top));
	(void)json_array_append_new(r->steps, o);
}

static void step_text(struct replay *r, const struct told *t)
{
	char bad[PROBABILITY_TEXT];
	char p[PROBABILITY_TEXT];

	(void)printf("%3d  %.12s  %-6s  %d run%s, bad with %s; none %s; ", r->step,
		     hash_of(r, t->commit), verdict_of(r, t->commit, t->p_bad), t->runs,
		     t->runs == 1 ? "" : "s", probability_text(bad, t->p_bad),
		     probability_text(p, t->sum.p_none));
	(void)printf("%zu %s 95 %%, %.1f bits left\n", t->sum.hold,
		     t->sum.hold == 1 ? "commit holds" : "commits hold", t->sum.bits);
	for (size_t i = 0; i < t->n_top; i++)
		(void)printf("     %.12s  %s\n", hash_of(r, (int)t->top[i].commit),
			     probability_text(p, t->top[i].p));
}

static void show_step(struct replay *r, int commit, int runs)
{
	_cleanup_(freep) struct replay_likely *top = xcalloc(TOP_MOST + 1, sizeof(*top));
	struct told t = { .commit = commit, .runs = runs, .top = top };

	r->step++;
	bisect_posterior(&r->s, r->p, NULL);
	bisect_summarise(&r->s, &t.sum);
	t.p_bad = bisect_p_bad(&r->s, commit);
	t.n_top = replay_top(r->p, r->log->graph.n, (size_t)r->q->top, top);
	if (t.sum.p < r->s.params.confidence)
		r->cost.sure_step = 0;
	else if (!r->cost.sure_step) {
		r->cost.sure_step = r->step;
		r->cost.sure_minutes = r->cost.minutes;
	}
	if (r->cli->json)
		step_json(r, &t);
	else if (!r->q->git_log)
		step_text(r, &t);
}

/* One boot with its runs, or a skip, from event @i on. Return: the event after it, or an error. */
static int64_t replay_step(struct replay *r, size_t i, struct err *e)
{
	const struct bisect_log *log = r->log;
	const struct bisect_event *first = &log->events[i];
	double build = first->given ? 0 : bisect_build_minutes(&r->s, first->commit);
	bool run = first->kind == BISECT_EVENT_RUN;
	int runs = 0;

	do {
		int rc = bisect_log_apply(&r->s, &log->events[i++], e);

		if (rc < 0)
			return err_wrap(e, "event %zu", i);
		runs++;
	} while (run && i < log->n_events && log->events[i].kind == BISECT_EVENT_RUN &&
		 log->events[i].commit == first->commit && log->events[i].boot == first->boot);
	r->cost.builds += build > 0;
	r->cost.minutes += build;
	if (run && !first->given) {
		r->cost.boots++;
		r->cost.runs += runs;
		r->cost.minutes += log->params.cost_boot + runs * log->params.cost_run;
	}
	show_step(r, first->commit, run ? runs : 0);
	return (int64_t)i;
}

/* What was built or is believed before is no step; what was built for it costs when it is used. */
static int replay_events(struct replay *r, struct err *e)
{
	const struct bisect_log *log = r->log;

	for (size_t i = 0; i < log->n_events;) {
		const struct bisect_event *event = &log->events[i];
		int64_t next = (int64_t)i + 1;

		if (event->kind == BISECT_EVENT_RUN || event->kind == BISECT_EVENT_SKIP)
			next = replay_step(r, i, e);
		else if (!event->made && bisect_log_apply(&r->s, event, e) < 0)
			next = err_wrap(e, "event %zu", i + 1);
		if (next < 0)
			return (int)next;
		i = (size_t)next;
	}
	for (size_t i = 0; i < log->n_events; i++)
		if (log->events[i].made)
			replay_cost_unused(&r->cost, &r->s, log->events[i].commit);
	replay_cost_beside(&r->cost, log);
	return 0;
}

static json_t *answer_json(const struct replay *r, const struct bisect_step *step)
{
	json_t *o = json_object();

	json_set_str(o, "action", bisect_action_name(step->action));
	json_set_f64(o, "p_none", step->p_none);
	json_set_f64(o, "probability", step->probability);
	if (step->action == BISECT_DONE || step->reverted || step->action == BISECT_MEASURE)
		json_set_str(o, "commit", hash_of(r, step->commit));
	if (step->action == BISECT_DONE)
		json_set_bool(o, "merge", step->merge);
	if (step->second >= 0) {
		json_set_str(o, "second", hash_of(r, step->second));
		json_set_f64(o, "second_probability", step->second_probability);
		json_set_bool(o, "reverted", step->reverted);
	}
	if (step->action == BISECT_SET) {
		_cleanup_(freep) struct replay_likely *set = xcalloc(step->n_set, sizeof(*set));

		for (size_t i = 0; i < step->n_set; i++)
			set[i] = (struct replay_likely){ (size_t)step->set[i], step->set_p[i] };
		json_set_bool(o, "exhausted", step->exhausted);
		(void)json_object_set_new(o, "set", likely_json(r, set, step->n_set));
	}
	return o;
}

static void print_json(struct replay *r, const struct bisect_step *step,
		       const struct replay_plain *plain)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;

	json_set_str(o, "format", "kperfbot-bisect-replay/1");
	json_set_i64(o, "commits", (int64_t)r->log->graph.n);
	(void)json_object_set(o, "steps", r->steps);
	(void)json_object_set_new(o, "answer", answer_json(r, step));
	replay_cost_json(o, &r->cost, plain);
	text = json_text(o);
	(void)printf("%s\n", text);
}

static void print_set(const struct replay *r, const struct bisect_step *step)
{
	char p[PROBABILITY_TEXT];

	double sum = 0;

	for (size_t i = 0; i < step->n_set; i++)
		sum += step->set_p[i];
	(void)printf("%s, one of these with %.0f %%:\n",
		     step->exhausted ? "the budget is spent" : "what is left cannot be told apart",
		     100 * sum);
	for (size_t i = 0; i < step->n_set; i++)
		(void)printf("     %.40s  %s\n", hash_of(r, step->set[i]),
			     probability_text(p, step->set_p[i]));
}

static void print_answer(const struct replay *r, const struct bisect_step *step)
{
	char p[PROBABILITY_TEXT];

	if (step->action == BISECT_DONE)
		(void)printf("first bad commit %.40s, probability %s%s\n", hash_of(r, step->commit),
			     probability_text(p, step->probability),
			     step->merge ? "; a merge, its parents are good" : "");
	else if (step->action == BISECT_NONE && step->reverted)
		(void)printf("the ends do not differ: bad since %.40s, probability %s\n",
			     hash_of(r, step->commit), probability_text(p, step->probability));
	else if (step->action == BISECT_NONE)
		(void)printf("%s, probability of no step %s\n", bisect_none_text(step),
			     probability_text(p, step->p_none));
	else if (step->action == BISECT_SET)
		print_set(r, step);
	else if (step->action == BISECT_MEASURE)
		(void)printf("not finished, next is %.40s\n", hash_of(r, step->commit));
	else
		(void)printf("not finished: %s\n", bisect_action_name(step->action));
	if (step->second >= 0)
		(void)printf("%s %.40s, probability %s\n",
			     step->reverted ? "good again since" : "second step in the range",
			     hash_of(r, step->second),
			     probability_text(p, step->second_probability));
}

struct subjects {
	git_repository *repo;
	struct strbuf text;
};

static const char *subject_of(const char *hash, void *arg)
{
	struct subjects *s = arg;
	git_commit *commit = NULL;
	git_oid id;

	strbuf_reset(&s->text);
	if (git_oid_fromstr(&id, hash) == 0 && git_commit_lookup(&commit, s->repo, &id) == 0)
		subject_add(&s->text, git_commit_message(commit));
	git_commit_free(commit);
	return strbuf_str(&s->text);
}

/* With subjects where a repository is named. */
static int print_git_log(struct replay *r, const struct bisect_step *step, struct err *e)
{
	struct subjects subjects = { .text = STRBUF_INIT };
	struct bisect_git_about about = { .arg = &subjects };
	_cleanup_(freep) char *text = NULL;
	int rc = 0;

	(void)git_libgit2_init();
	if (r->q->repo)
		rc = range_open(r->q->repo, &subjects.repo, e);
	if (rc == 0) {
		about.subject = subjects.repo ? subject_of : NULL;
		text = bisect_log_git(&r->s, hash_of(r, BISECT_GOOD_END), step, &about);
		(void)fputs(text, stdout);
	}
	git_repository_free(subjects.repo);
	strbuf_done(&subjects.text);
	(void)git_libgit2_shutdown();
	return rc;
}

static int replay_own(const struct cli *cli, const struct replay_options *q,
		      const struct bisect_log *log, struct err *e)
{
	struct replay r = { .cli = cli, .q = q, .log = log };
	struct bisect_step step = { 0 };
	int code = EXIT_CANNOT_TELL;
	int rc = bisect_log_start(log, &r.s, e);

	if (rc < 0)
		return rc;
	r.p = xcalloc(log->graph.n, sizeof(*r.p));
	r.steps = json_array();
	rc = replay_events(&r, e);
	if (rc == 0)
		rc = bisect_next(&r.s, &step, e);
	if (rc == 0 && q->git_log) {
		rc = print_git_log(&r, &step, e);
	} else if (rc == 0) {
		struct replay_plain plain = { 0 };

		rc = replay_plain(&r.s, &step, &plain, e);
		if (rc == 0 && cli->json) {
			print_json(&r, &step, &plain);
		} else if (rc == 0) {
			print_answer(&r, &step);
			replay_cost_print(&r.cost, &plain);
		}
	}
	if (step.action == BISECT_DONE || step.action == BISECT_NONE)
		code = EXIT_DONE;
	bisect_step_done(&step);
	bisect_done(&r.s);
	json_decref(r.steps);
	free(r.p);
	return rc < 0 ? rc : code;
}

static int take_wrong(void *to, const char *value, struct err *e)
{
	struct replay_options *q = to;
	int r = parse_ratio(value, &q->wrong, e);

	if (r == 0 && q->wrong > 0.5)
		return err_set(e, ERR_INVAL, "'%.40s' is more than a half", value);
	return r;
}

static int parse_options(struct cli *cli, int argc, char **argv, struct replay_options *q)
{
	const struct cli_option options[] = {
		CLI_FLAG("git-log", &q->git_log),
		CLI_TEXT("repo", &q->repo),
		CLI_TAKE("wrong", take_wrong, q),
		CLI_INT("top", &q->top, 0, TOP_MOST),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at != 1)
		return cli_usage(cli, "want one log, got %d", argc - at);
	q->path = argv[at];
	return EXIT_DONE;
}

int cmd_bisect_replay(struct cli *cli, int argc, char **argv)
{
	struct replay_options q = { .wrong = 0.01, .top = 3 };
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(bisect_log_done) struct bisect_log log = { 0 };
	struct err e = { 0 };
	int r;

	cli->usage = CMD_BISECT_REPLAY_USAGE;
	r = parse_options(cli, argc, argv, &q);
	if (r != EXIT_DONE)
		return r;
	r = file_read(q.path, BISECT_LOG_MOST, &text, &e);
	if (r == 0 && bisect_git_log_is(strbuf_str(&text), text.len))
		return cmd_bisect_replay_git(cli, &q, strbuf_str(&text), text.len);
	if (r == 0)
		r = bisect_log_read(strbuf_str(&text), text.len, &log, &e);
	if (r == 0)
		r = replay_own(cli, &q, &log, &e);
	if (r < 0) {
		(void)err_wrap(&e, "%s", q.path);
		(void)cli_fail(cli, &e);
		return EXIT_FATAL;
	}
	return r;
}
