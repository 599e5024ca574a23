/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of commits that claim to fix its culprit. */
#include "bot/base/strbuf.h"
#include "bot/mail/compose_text.h"

/* The mail names the newest; the page has all. */
#define FIXES_SHOWN 2

static void add_one(struct strbuf *b, const struct compose_input *in, const struct compose_fix *f)
{
	strbuf_addf(b, "possibly %s %.12s", f->reverts ? "taken back by" : "fixed by", f->commit);
	if (f->title)
		strbuf_addf(b, " (\"%s\")", f->title);
	if (f->branch)
		strbuf_addf(b, ", in %s %s", in->tree, f->branch);
	if (f->day[0])
		strbuf_addf(b, ", committed %s", f->day);
	if (f->by_title)
		strbuf_addstr(b, ", which gives the title with an id that is not there");
	if (f->measured == 0)
		strbuf_addstr(b, "; not measured yet");
}

void compose_add_fixed(const struct compose_text *t)
{
	const struct compose_input *in = t->in;
	size_t max = t->shrink > 2 ? 1 : FIXES_SHOWN, n = in->possibly_fixed.len;

	for (size_t i = 0; i < n && i < max; i++) {
		struct strbuf b = STRBUF_INIT;

		add_one(&b, in, &in->possibly_fixed.items[i]);
		if (i + 1 == max && n > max)
			strbuf_addf(&b, "; and %zu more say so", n - max);
		compose_wrap(t->out, i ? INDENT : "Fix     ", INDENT, strbuf_str(&b), PROSE);
		strbuf_done(&b);
	}
}
