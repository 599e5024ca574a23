/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences of a report. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose_text.h"
#include "bot/mail/text.h"

#include <math.h>
#include <string.h>

#define TITLE_ROOM 54
#define PARAMS_MAX 10
#define FACTS_MAX  6
#define STEPS_MAX  3

/* What fits at each level of shortening. */
static const size_t reasons_max[] = { 20, 20, 20, 5, 3 };
static const size_t commands_max[] = { 24, 16, 10, 6, 0 };

/* A fact as one entry of a comma list; blanks inside do not break. */
static void add_item(struct strbuf *b, const char *sep, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_item(struct strbuf *b, const char *sep, const char *fmt, ...)
{
	struct strbuf item = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&item, fmt, ap);
	va_end(ap);
	if (b->len)
		strbuf_addstr(b, sep);
	for (const char *p = strbuf_str(&item); *p; p++)
		strbuf_addch(b, (char)(*p == ' ' ? NBSP_CH : *p));
	strbuf_done(&item);
}

/* "95% interval: 4.3% to 3.3%": sizes if both ends have the sign of the change. */
static void add_interval(struct strbuf *b, const struct compose_input *in)
{
	const struct compose_change *c = &in->headline.change;
	bool plain = (c->lo < 0) == (c->rel < 0) && (c->hi < 0) == (c->rel < 0);
	int decimals = compose_decimals(c);
	char lo[COMPOSE_NUMBER], hi[COMPOSE_NUMBER];

	if (isnan(c->lo))
		return;
	add_item(b, ", ", "%.4g%% interval:", in->level * 100);
	strbuf_addf(b, " %s" NBSP "to" NBSP "%s", compose_pct(lo, c->lo, decimals, !plain),
		    compose_pct(hi, c->hi, decimals, !plain));
}

static void add_runs(struct strbuf *b, const struct compose_input *in)
{
	int64_t base = in->headline.base.n, head = in->headline.head.n;
	const char *kind = in->interleaved ? "interleaved runs" : "runs";

	if (base && head)
		add_item(b, ", ", "%lld + %lld", (long long)base, (long long)head);
	else if (base || head)
		add_item(b, ", ", "%lld", (long long)(base ? base : head));
	else
		return;
	strbuf_addf(b, " %s", kind);
}

void compose_add_lead(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	const struct compose_change *c = &in->headline.change;
	struct strbuf facts = STRBUF_INIT, text = STRBUF_INIT;
	char pct[COMPOSE_NUMBER];

	add_interval(&facts, in);
	add_runs(&facts, in);
	add_item(&facts, ", ", "%s", in->machine);
	strbuf_addf(&text, "%s %s by %s (%s) at", in->metric, c->rel < 0 ? "fell" : "rose",
		    compose_pct(pct, c->rel, compose_decimals(c), false), strbuf_str(&facts));
	compose_wrap(t->out, "", "", strbuf_str(&text), PROSE);
	/* Around the hash and the quotes a title has 54 columns in a line of 80. */
	strbuf_addf(t->out, "\n  commit %.12s%s(\"%s\")\n", in->culprit.commit,
		    text_width(in->culprit.title) > TITLE_ROOM ? "\n         " : " ",
		    in->culprit.title);
	strbuf_reset(&text);
	strbuf_addf(&text, "%s%s%s", in->tree, in->branch ? " " : "", in->branch ? in->branch : "");
	if (in->tested_as)
		strbuf_addf(&text, ", as of %s", in->tested_as);
	if (in->in_mainline >= 0)
		strbuf_addf(&text, "; %s", in->in_mainline ? "in mainline" : "not in mainline");
	compose_wrap(t->out, "  tree   ", "         ", strbuf_str(&text), PROSE);
	strbuf_done(&facts);
	strbuf_done(&text);
}

static void add_entry(const struct compose_text *t, const char *heading, struct strbuf *text)
{
	_cleanup_(freep) char *first = xasprintf("%-8s", heading);

	if (text->len)
		compose_wrap(t->out, first, INDENT, text->s, PROSE);
	strbuf_done(text);
}

static void add_impact(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	double limit = isnan(in->broad_limit) ? 0.01 : in->broad_limit;
	bool counted = in->broad_tested > 0 && in->broad_moved >= 0;
	bool micro = in->class && !strcmp(in->class, "micro");
	bool broad = in->class && !strcmp(in->class, "broad");
	struct strbuf b = STRBUF_INIT;

	if (micro)
		strbuf_addstr(&b, counted && !in->broad_moved ? "micro-benchmark only"
							      : "a micro-benchmark");
	else if (broad)
		strbuf_addstr(&b, "a broad benchmark");
	if (counted) {
		strbuf_addstr(&b, b.len ? "; " : "");
		if (in->broad_moved)
			strbuf_addf(&b, "%lld", (long long)in->broad_moved);
		else
			strbuf_addstr(&b, "none");
		strbuf_addf(&b, " of %lld broad benchmarks moved by %.3g%%",
			    (long long)in->broad_tested, limit * 100);
	}
	add_entry(t, "Impact", &b);
}

/* Who looks at the pair of commits alone may not see it: small parts, or noise that hid it. */
static void add_found(const struct compose_text *t)
{
	struct strbuf b = STRBUF_INIT;

	if (t->in->from_history)
		strbuf_addstr(&b, "by a step over several commits of the branch; then both levels "
				  "were measured again, in turns");
	add_entry(t, "Found", &b);
}

static void add_page(const struct compose_text *t)
{
	const struct compose_input *in = t->in;

	if (!in->url)
		return;
	if (in->metric_count)
		compose_line(t->out, "Page    %s/r/%s   (all %lld metrics, runs)", in->url, in->id,
			     (long long)in->metric_count);
	else
		compose_line(t->out, "Page    %s/r/%s", in->url, in->id);
}

/* "300s" as "300 s", 128 tasks as a phrase, anything else as key=value. */
static void add_param(struct strbuf *b, const struct compose_param *p)
{
	size_t digits = strspn(p->value, "0123456789");
	bool number = digits && !p->value[digits];

	if (!strcmp(p->key, "runtime") && digits && !strcmp(p->value + digits, "s"))
		add_item(b, ", ", "%.*s s", (int)digits, p->value);
	else if (!strcmp(p->key, "nr_task") && number)
		add_item(b, ", ", "%s %s", p->value, strcmp(p->value, "1") ? "tasks" : "task");
	else
		add_item(b, ", ", "%s=%s", p->key, p->value);
}

static void add_test(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	struct strbuf b = STRBUF_INIT, params = STRBUF_INIT;
	size_t n = 0;

	strbuf_addstr(&b, in->suite);
	vec_foreach (p, &in->params) {
		if (!strcmp(p->key, "test"))
			strbuf_addf(&b, " %s", p->value);
		else if (n++ < PARAMS_MAX)
			add_param(&params, p);
	}
	if (params.len)
		strbuf_addf(&b, ", %s", params.s);
	if (in->better != COMPOSE_BETTER_NONE)
		add_item(&b, ", ", "%s is better",
			 in->better == COMPOSE_BETTER_HIGHER ? "more" : "less");
	strbuf_done(&params);
	add_entry(t, "Test", &b);
}

static void add_count(struct strbuf *b, int64_t n, const char *one, const char *many)
{
	if (n)
		add_item(b, ", ", "%lld %s", (long long)n, n == 1 ? one : many);
}

static void add_size(struct strbuf *b, int64_t bytes, const char *what)
{
	double mib = (double)bytes / (1024.0 * 1024.0);

	if (bytes <= 0)
		return;
	if (mib >= 1024)
		add_item(b, ", ", "%.4g GiB%s", mib / 1024, what);
	else
		add_item(b, ", ", "%.4g MiB%s", mib, what);
}

static void add_accel(struct strbuf *b, const char *accel)
{
	if (!strcmp(accel, "icount"))
		strbuf_addstr(b,
			      "; QEMU -icount: it counts instructions, so costs of caches, memory "
			      "and locks between CPUs do not show");
	else if (!strcmp(accel, "tcg"))
		strbuf_addstr(b, "; QEMU without KVM: an emulated CPU, caches do not show");
	else
		add_item(b, ", ", "QEMU %s", accel);
}

static void add_box(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	struct strbuf b = STRBUF_INIT;
	size_t n = 0;

	add_count(&b, in->sockets, "socket", "sockets");
	add_count(&b, in->cpus, "CPU", "CPUs");
	add_size(&b, in->memory_bytes, "");
	if (!in->swap_bytes)
		add_item(&b, ", ", "no swap");
	add_size(&b, in->swap_bytes, " swap");
	if (in->thp)
		add_item(&b, ", ", "THP %s", in->thp);
	if (in->governor)
		add_item(&b, ", ", "governor %s", in->governor);
	if (in->compiler)
		add_item(&b, ", ", "%s", in->compiler);
	vec_foreach (f, &in->facts) {
		if (n++ < FACTS_MAX)
			add_item(&b, ", ", "%s", *f);
	}
	if (in->accel)
		add_accel(&b, in->accel);
	if (b.len && in->url)
		strbuf_addstr(&b, "; config and dmesg on the page");
	if (b.len) {
		struct strbuf all = STRBUF_INIT;

		strbuf_addf(&all, "%s: ", in->machine);
		/* "lab-a2: ; QEMU": nothing was known but the accelerator */
		strbuf_addstr(&all, b.s + strspn(b.s, "; "));
		add_entry(t, "Box", &all);
	}
	strbuf_done(&b);
}

void compose_add_facts(const struct compose_text *t)
{
	struct strbuf ask = STRBUF_INIT;

	strbuf_addch(t->out, '\n');
	add_impact(t);
	add_found(t);
	compose_add_fixed(t);
	strbuf_addstr(&ask,
		      t->in->replies
			      ? "is this cost expected? If so one reply line ends it, see below"
			      : "is this cost expected? Please answer to all");
	add_entry(t, "Ask", &ask);
	add_page(t);
	add_test(t);
	add_box(t);
}

static void add_step(struct strbuf *out, const struct compose_step *s)
{
	char n[COMPOSE_NUMBER] = "", runs[COMPOSE_NUMBER] = "", rel[COMPOSE_NUMBER] = "";
	char p[COMPOSE_NUMBER] = "", left[COMPOSE_NUMBER] = "";

	if (s->n)
		(void)snprintf(n, sizeof(n), "%lld", (long long)s->n);
	if (s->runs)
		(void)snprintf(runs, sizeof(runs), "%lld", (long long)s->runs);
	if (!isnan(s->rel))
		(void)compose_pct(rel, s->rel, 1, true);
	if (!isnan(s->p_bad))
		(void)snprintf(p, sizeof(p),
			       s->p_bad >= 0.995  ? ">0.99"
			       : s->p_bad < 0.005 ? "<0.01"
						  : "%.2f",
			       s->p_bad);
	if (!isnan(s->left))
		(void)snprintf(left, sizeof(left), "%.1f", s->left);
	if (s->skip)
		compose_line(out, "  %4s  %.12s  %4s  skipped: %s", n, s->commit, runs, s->skip);
	else
		compose_line(out, "  %4s  %.12s  %4s  %6s  %6s  %12s", n, s->commit, runs, rel, p,
			     left);
}

static void result_text(const struct compose_text *t, struct strbuf *b)
{
	const struct compose_input *in = t->in;
	char p[COMPOSE_NUMBER];

	if (!isnan(in->culprit.p))
		strbuf_addf(b, "this commit %s", compose_probability(p, in->culprit.p));
	if (b->len && in->runners_up.len && !isnan(in->runners_up.items[0].p))
		strbuf_addf(b, ", next likely %.12s %s", in->runners_up.items[0].commit,
			    compose_probability(p, in->runners_up.items[0].p));
	if (!isnan(in->revert.rel)) {
		strbuf_addstr(b, b->len ? "; reverting it" : "reverting it");
		if (in->revert_on)
			strbuf_addf(b, " on %s", in->revert_on);
		strbuf_addstr(b, " gives ");
		compose_change_text(b, &in->revert);
		strbuf_addstr(b, " against the parent");
	}
}

/* A tag is shown whole, a hash as elsewhere. */
static int shown_len(const char *name)
{
	size_t n = strlen(name);

	return n == 40 && strspn(name, "0123456789abcdef") == n ? 12 : (int)n;
}

void compose_add_bisection(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	size_t from = in->steps.len > STEPS_MAX ? in->steps.len - STEPS_MAX : 0;
	struct strbuf b = STRBUF_INIT, result = STRBUF_INIT;

	result_text(t, &result);
	if (in->good && in->bad)
		strbuf_addf(&b, "%.*s" NBSP "(good) .. %.*s" NBSP "(bad)", shown_len(in->good),
			    in->good, shown_len(in->bad), in->bad);
	add_count(&b, in->commits, "commit", "commits");
	add_count(&b, in->steps_done, "step", "steps");
	if (b.len && in->steps.len)
		strbuf_addstr(&b, from ? ", the last three" : "");
	if (b.len && in->bisect && in->url)
		strbuf_addf(&b, " (%s" NBSP "%s/b/%s)", from ? "all:" : "more:", in->url,
			    in->bisect);
	if (b.len) {
		if (in->steps.len)
			strbuf_addch(&b, ':');
		strbuf_addch(t->out, '\n');
		add_entry(t, "Bisect", &b);
		if (in->steps.len)
			compose_line(t->out,
				     "  step  commit        runs  change  P(bad)  commits left");
		for (size_t i = from; i < in->steps.len; i++)
			add_step(t->out, &in->steps.items[i]);
		if (result.len)
			compose_wrap(t->out, "  result: ", "  ", result.s, PROSE);
		strbuf_done(&result);
	} else if (result.len) {
		strbuf_addch(t->out, '\n');
		add_entry(t, "Bisect", &result);
	}
	strbuf_done(&b);
}

void compose_add_reproduce(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	size_t n = in->repro.len, max = commands_max[t->shrink], blank = 0;
	struct strbuf b = STRBUF_INIT;

	while (blank < n && !in->repro.items[blank][strspn(in->repro.items[blank], " ")])
		blank++;
	if (blank == n || !max)
		return;
	if (in->repro_note)
		strbuf_addstr(&b, in->repro_note);
	if (!isnan(in->repro_minutes))
		strbuf_addf(&b, "%sabout %.0f %s a kernel", b.len ? ", " : "",
			    fmax(1, in->repro_minutes),
			    in->repro_minutes < 1.5 ? "minute" : "minutes");
	compose_line(t->out, b.len ? "\nReproduce (%s)" : "\nReproduce%s", strbuf_str(&b));
	strbuf_done(&b);
	for (size_t i = blank; i < n && i < max; i++)
		compose_line(t->out, "  %s", in->repro.items[i]);
	if (n > max)
		compose_line(t->out, "  # %zu more lines%s", n - max,
			     in->url ? " on the page" : "");
}

void compose_add_tags(const struct compose_text *t, const char *message_id)
{
	const struct compose_input *in = t->in;
	bool foldable = in->lives_in_known && in->lives_in < LIVES_IN_MAINLINE;
	struct strbuf *out = t->out;

	strbuf_addstr(out, "\nIf you fix this in a commit of its own, please add\n");
	strbuf_addf(out, "  Reported-by: kperfbot <kperfbot+%s@%s>\n", in->id, in->host);
	if (in->archive)
		strbuf_addf(out, "  Closes: %s/%s\n", in->archive, message_id);
	else if (in->url)
		strbuf_addf(out, "  Closes: %s/r/%s\n", in->url, in->id);
	strbuf_addf(out, "  Fixes: %.12s (\"%s\")\n", in->culprit.commit, in->culprit.title);
	if (foldable)
		strbuf_addstr(out, "If you fold the fix into this commit, no tag is needed.\n");
}

static void add_reasons(const struct compose_text *t)
{
	struct strbuf b = STRBUF_INIT;
	size_t shown = 0;

	vec_foreach (r, &t->in->recipients) {
		const char *name = r->name ? r->name : r->addr;
		/* the domain of a list is in the header */
		int n = r->name ? (int)strlen(name) : (int)strcspn(name, "@");

		if (!r->reason)
			continue;
		if (shown++ == reasons_max[t->shrink])
			break;
		if (!b.len && r->to)
			strbuf_addf(&b, "You get this as %s", r->reason);
		else
			strbuf_addf(&b, "%s%.*s as %s", b.len ? "; " : "Sent to ", n, name,
				    r->reason);
	}
	if (b.len) {
		strbuf_addch(&b, '.');
		compose_wrap(t->out, "", "", b.s, PROSE);
	}
	strbuf_done(&b);
}

void compose_add_footer(const struct compose_text *t)
{
	const struct compose_input *in = t->in;

	strbuf_addch(t->out, '\n');
	if (in->replies)
		strbuf_addstr(
			t->out,
			"You may answer to all with a line such as (not indented, not quoted)\n"
			"    #kperfbot expected: <why>           #kperfbot fix: <title or hash>\n"
			"    #kperfbot test <git-url> <ref>      #kperfbot wrong: <why>\n");
	add_reasons(t);
	if (in->replies && in->url)
		compose_line(t->out, "To get no more mail: #kperfbot stop, or %s/stop", in->url);
	else if (in->replies)
		compose_line(t->out, "To get no more mail: #kperfbot stop");
	else if (in->contact)
		compose_line(t->out, "To get no more mail, write to %s", in->contact);
	else if (in->url)
		compose_line(t->out, "To get no more mail: %s/stop", in->url);
	if (in->contact)
		compose_line(t->out, "A program wrote this and can err; people: %s", in->contact);
	else
		compose_line(t->out, "A program wrote this and can err.");
}
