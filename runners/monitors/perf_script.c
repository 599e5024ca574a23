/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf script -F comm,pid,tid,time,period,event,ip,sym,dso: a line for each sample,
 *
 *	COMM PID/TID [CPU] SECONDS: PERIOD EVENT:
 *
 * then, after a tab, a line "IP SYMBOL+0xOFFSET (DSO)" for each function, innermost first, then an
 * empty line. Without call chains the function follows on the first line. Names of commands,
 * functions and files may have blanks and parentheses in them.
 */
#include "runners/monitors/profile.h"

#include <string.h>

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Cuts "+0x1f" off the end of a symbol. */
static const char *without_offset(const char *start, const char *end)
{
	const char *p = end;

	while (p > start && is_hex(p[-1]))
		p--;
	if (p < end && p - start > 3 && p[-1] == 'x' && p[-2] == '0' && p[-3] == '+')
		return p - 3;
	return end;
}

/* Does @p, which is a '(', belong to the ')' before @end? */
static bool is_pair(const char *p, const char *end)
{
	int open = 0;

	if (memchr(p, ')', (size_t)(end - p)) == end - 1)
		return true;
	for (; p < end - 1; p++) {
		open += (*p == '(') - (*p == ')');
		if (open == 0)
			return false;
	}
	return open == 1;
}

/*
 * Where the " (DSO)" at the end of a line begins; a file may be called "/tmp/a (deleted)". After some
 * tries it is not looked for any more: each may go over all of the line.
 */
static const char *dso_start(const char *start, const char *end)
{
	unsigned tries = 0;

	for (const char *p = end - 1; p > start && tries++ < 32;) {
		p = memrchr(start, '(', (size_t)(p - start));
		if (!p || p == start)
			return NULL;
		if (p[-1] == ' ' && is_pair(p, end))
			return p - 1;
	}
	return NULL;
}

/* "IP SYMBOL (DSO)" between @p and @end. */
static bool take_frame(struct profile *p, struct perf_script *s, const char *at, const char *end)
{
	const char *dso = NULL, *sym, *ip;

	while (at < end && *at == ' ')
		at++;
	ip = at;
	while (at < end && is_hex(*at))
		at++;
	if (at == ip || at == end || *at != ' ')
		return false;
	sym = ++at;
	if (end > sym && end[-1] == ')')
		dso = dso_start(sym - 1, end);
	if (!dso)
		return false;
	if (p->depth == 0) {
		size_t n = (size_t)(end - dso) - 3;

		n = n < sizeof(s->dso) ? n : sizeof(s->dso);
		memcpy(s->dso, dso + 2, n);
		s->dso_word = (struct word){ s->dso, n };
	}
	/* dso_start() looked from the blank on, so there may be no symbol at all. */
	if (dso < sym)
		profile_frame(p, profile_symbol(p, "[unknown]", 9));
	else
		profile_frame(p, profile_symbol(p, sym, (size_t)(without_offset(sym, dso) - sym)));
	return true;
}

static bool is_stamp(const struct word *w)
{
	double v;

	return w->len > 3 && w->s[w->len - 1] == ':' && memchr(w->s, '.', w->len) &&
	       number_f64(w->s, w->len - 1, &v);
}

/* "123", "123/124", "-1" */
static bool is_task(const struct word *w)
{
	size_t digits = 0;

	for (size_t i = 0; i < w->len; i++) {
		if (w->s[i] >= '0' && w->s[i] <= '9')
			digits++;
		else if (w->s[i] != '/' && w->s[i] != '-')
			return false;
	}
	return digits > 0;
}

/* What is before the stamp: the command, the task, perhaps the CPU in brackets. */
static bool take_comm(struct perf_script *s, const struct line *l, const struct word *task,
		      const struct word *last)
{
	const char *start = l->s, *end = task->s;
	size_t n;

	if (!task->s || !is_task(task) || (last != task && last->s[0] != '['))
		return false;
	while (start < end && *start == ' ')
		start++;
	while (end > start && end[-1] == ' ')
		end--;
	n = (size_t)(end - start);
	n = n < sizeof(s->comm) ? n : sizeof(s->comm);
	memcpy(s->comm, start, n);
	s->comm_word = (struct word){ s->comm, n };
	return true;
}

static bool take_header(struct profile *p, struct perf_script *s, const struct line *l)
{
	struct word w = { 0 }, last = { 0 }, before = { 0 };
	struct scan c = scan_line(l);
	uint64_t period;

	while (word_next(&c, &w) && !is_stamp(&w)) {
		before = last;
		last = w;
	}
	if (!w.s || !is_stamp(&w))
		return false;
	if (last.s && last.s[0] == '[' ? !take_comm(s, l, &before, &last)
				       : !take_comm(s, l, &last, &last))
		return false;
	s->weight = 1;
	if (!word_next(&c, &w))
		return false;
	if (number_u64(w.s, w.len, &period)) {
		s->weight = (double)period;
		if (!word_next(&c, &w))
			return false;
	}
	if (w.len < 2 || w.s[w.len - 1] != ':')
		return false;
	w.len--;
	s->event = profile_event(p, &w);
	s->in_sample = true;
	s->skip = s->event == PROFILE_EVENTS_MAX;
	if (s->skip)
		problem_bad_line(p->out, l, "of one of the first events; left out");
	scan_blanks(&c);
	if (!scan_end(&c)) {
		if (!s->skip && take_frame(p, s, c.p, c.end))
			profile_sample(p, s->event, s->weight, &s->comm_word, &s->dso_word);
		else if (!s->skip)
			problem_bad_line(p->out, l, "the start of a sample");
		s->in_sample = false;
		s->skip = true;
	}
	return true;
}

void perf_script_line(struct profile *p, struct perf_script *s, const struct line *l)
{
	if (l->len == 0) {
		if (s->in_sample && !s->skip)
			profile_sample(p, s->event, s->weight, &s->comm_word, &s->dso_word);
		s->in_sample = false;
		p->depth = 0;
		return;
	}
	if (l->s[0] == '\t') {
		if (!s->in_sample || s->skip || take_frame(p, s, l->s + 1, l->s + l->len))
			return;
		problem_bad_line(p->out, l, "a function; the sample is left out");
		s->skip = true;
		return;
	}
	if (l->s[0] == '#')
		return;
	if (s->in_sample)
		problem_bad_line(p->out, l, "the end of a sample, which is left out");
	s->in_sample = false;
	s->skip = true;
	p->depth = 0;
	s->dso_word.len = 0;
	if (!take_header(p, s, l))
		problem_bad_line(p->out, l, "the start of a sample");
}

void perf_script_end(struct profile *p, struct perf_script *s, const struct line *l)
{
	if (s->in_sample)
		suite_problem_add(p->out, l, "the last sample is cut; it is left out");
}
