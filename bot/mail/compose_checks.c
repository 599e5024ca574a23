/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What else changed, and what speaks for and against the verdict. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/compose_text.h"

#include <math.h>
#include <string.h>

enum {
	WORD_MAX = 58
};

/* What fits at each level of shortening. */
static const size_t checks_max[] = { 8, 6, 4, 2, 1 };
static const size_t also_max[] = { 6, 4, 2, 1, 0 };

/* A name alone is no entry. */
static bool check_says(const struct compose_check *c)
{
	return !isnan(c->change.rel) || c->ok >= 0 || (c->text && c->text[0]);
}

/* What a check means, where that is not plain. */
static const char *check_meaning(const struct compose_check *c)
{
	if (c->ok < 0)
		return "";
	if (compose_is_box_check(c))
		return c->ok ? ", box is steady" : ", box is NOT steady";
	/* Kernels that were not measured mean nothing. */
	if (compose_is_layout_check(c) && (!isnan(c->change.rel) || !c->text))
		return c->ok ? ", so not code layout" : ", so code layout may be the cause";
	return "";
}

/* "parent again the same day:"; a base that is not the parent by its hash. */
static void again_text(const struct compose_text *t, struct strbuf *b,
		       const struct compose_check *c)
{
	bool bb = !strcmp(c->name, "bb");
	const char *known = bb ? t->in->culprit.commit : t->in->parent;

	if (c->commit && (!known || strncmp(c->commit, known, 12) != 0))
		strbuf_addf(b, "%s" NBSP "%.12s", bb ? "head" : "base", c->commit);
	else
		strbuf_addstr(b, bb ? "this commit" : "parent");
	strbuf_addf(b, " again%s:", c->same_day > 0 ? " the same day" : "");
}

static void check_text(const struct compose_text *t, struct strbuf *b,
		       const struct compose_check *c)
{
	bool again = compose_is_box_check(c), align = compose_is_layout_check(c);

	if (again)
		again_text(t, b, c);
	else if (align)
		strbuf_addstr(b, "64-byte aligned functions:");
	else if (!strcmp(c->name, "machine") && c->machine)
		strbuf_addf(b, "%s:", c->machine);
	else
		strbuf_addf(b, "%s:", c->name);
	if (!isnan(c->change.rel)) {
		strbuf_addch(b, c->machine && !align && !again ? NBSP_CH : ' ');
		compose_change_text(b, &c->change);
	} else if (c->ok >= 0 && !c->text) {
		strbuf_addstr(b, c->ok ? " passed" : " failed");
	}
	strbuf_addstr(b, check_meaning(c));
	if (c->text)
		strbuf_addf(b, "%s %s", isnan(c->change.rel) ? "" : ";", c->text);
}

/* Where the runs of a side gather; a mean says nothing there. */
static void add_modes(struct strbuf *b, const struct compose_side *s, const char *name)
{
	char center[COMPOSE_NUMBER], share[COMPOSE_NUMBER];

	if (s->nmodes < 2)
		return;
	strbuf_addf(b, "%s%s modes in %s:", b->len ? "; " : "", s->nmodes == 2 ? "two" : "several",
		    name);
	for (size_t i = 0; i < s->nmodes; i++) {
		(void)compose_mean(center, s->modes[i].center);
		strbuf_addf(b, "%s %s" NBSP "near" NBSP "%s", i ? "," : "",
			    compose_pct(share, s->modes[i].share, 0, false), center);
	}
}

static void peaks_text(const struct compose_text *t, struct strbuf *b)
{
	const struct compose_input *in = t->in;

	add_modes(b, &in->headline.base, "base");
	add_modes(b, &in->headline.head, "head");
	if (b->len)
		strbuf_addstr(b, "; no run was near the mean");
	else if (in->one_peak)
		strbuf_addstr(b, "one peak on either side");
}

static void add_net(struct strbuf *b, const struct compose_input *in)
{
	char rel[COMPOSE_NUMBER], because[COMPOSE_NUMBER];
	bool gain = (in->net_because_rel > 0) == (in->better == COMPOSE_BETTER_HIGHER);

	strbuf_addf(b, "net since %s: %s", in->net_since, compose_pct(rel, in->net_rel, 1, true));
	if (in->net_because && !isnan(in->net_because_rel))
		strbuf_addf(b, " (a %s of %s came with %.12s)",
			    in->better == COMPOSE_BETTER_NONE ? "change"
			    : gain			      ? "gain"
							      : "loss",
			    compose_pct(because, in->net_because_rel, 1, false), in->net_because);
}

/* The heading belongs to the first entry, whichever that is. */
static void add_checked(const struct compose_text *t, struct strbuf *text, size_t *done)
{
	if (!text->len)
		return;
	if (!*done)
		strbuf_addch(t->out, '\n');
	compose_wrap(t->out, *done ? INDENT : "Checks  ", INDENT, text->s, PROSE);
	(*done)++;
	strbuf_reset(text);
}

void compose_add_checks(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	struct strbuf line = STRBUF_INIT, other = STRBUF_INIT;
	size_t done = 0, n = 0, room = PROSE - strlen(INDENT);

	vec_foreach (c, &in->checks) {
		bool machine = !strcmp(c->name, "machine");

		if (!check_says(c))
			continue;
		if (n++ >= checks_max[t->shrink])
			break;
		check_text(t, &other, c);
		/* other machines share a line */
		if (machine && line.len && line.len + 3 + other.len <= room) {
			strbuf_addf(&line, NBSP NBSP NBSP "%s", other.s);
			strbuf_reset(&other);
			continue;
		}
		add_checked(t, &line, &done);
		strbuf_addstr(&line, strbuf_str(&other));
		strbuf_reset(&other);
		if (!machine)
			add_checked(t, &line, &done);
	}
	add_checked(t, &line, &done);
	peaks_text(t, &line);
	add_checked(t, &line, &done);
	if (in->net_since && !isnan(in->net_rel)) {
		add_net(&line, in);
		add_checked(t, &line, &done);
	}
	strbuf_done(&line);
	strbuf_done(&other);
}

/* As this mail writes: "6.6%", dots that any terminal has, and no word that fits into no line. */
static char *sentence_dup(const char *s)
{
	struct strbuf b = STRBUF_INIT;
	size_t word = 0;

	for (; *s; s++) {
		bool dots = !strncmp(s, "\xe2\x80\xa6", 3);
		bool part = ((unsigned char)*s & 0xc0) == 0x80; /* of a character */

		if (s[0] == ' ' && s[1] == '%')
			continue;
		word = *s == ' ' ? 0 : word + !part;
		if (dots || (word == WORD_MAX + 1 && !part))
			strbuf_addstr(&b, "..");
		else if (word <= WORD_MAX)
			strbuf_addch(&b, *s);
		s += dots ? 2 : 0;
	}
	return strbuf_take(&b);
}

/* What is new in a sentence; NULL: the mail says it elsewhere. */
static const char *news_of(const struct compose_input *in, const char *s)
{
	size_t n = strlen(in->metric);

	if (!strncmp(s, in->metric, n) && s[n] == ' ') {
		s = strstr(s, "; ");
		return s ? s + 2 : NULL;
	}
	return in->metrics.len && !strncmp(s, "also moved: ", 12) ? NULL : s;
}

void compose_add_also(const struct compose_text *t)
{
	size_t n = 0;

	vec_foreach (f, &t->in->findings) {
		const char *news = news_of(t->in, *f);
		_cleanup_(freep) char *text = news ? sentence_dup(news) : NULL;

		if (!text || !text[strspn(text, " ")] || n >= also_max[t->shrink])
			continue;
		if (!n)
			strbuf_addch(t->out, '\n');
		compose_wrap(t->out, n++ ? INDENT : "Also    ", INDENT, text, PROSE);
	}
}
