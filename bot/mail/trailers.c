/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/trailers.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/mail/address.h"
#include "bot/mail/text.h"
#include "bot/mail/trailers_parts.h"

#include <string.h>

#define VALUE_MAX   4000
#define SUBJECT_MAX 20000
#define FIX_LINES   4

struct line {
	const char *s;
	size_t len;
};

struct lines {
	VEC(struct line) v;
};

enum line_kind {
	LINE_TEXT,
	LINE_KNOWN,
	LINE_OTHER_KEY,
	LINE_MORE,
	LINE_NOTE,
};

static void split_lines(const char *msg, size_t len, struct lines *ret)
{
	const char *end = msg + len;

	while (msg < end) {
		const char *nl = memchr(msg, '\n', (size_t)(end - msg));
		struct line l = { msg, (size_t)((nl ? nl : end) - msg) };

		while (l.len &&
		       (l.s[l.len - 1] == '\r' || l.s[l.len - 1] == ' ' || l.s[l.len - 1] == '\t'))
			l.len--;
		vec_push(&ret->v, l);
		msg = nl ? nl + 1 : end;
	}
}

/* Length of the key if the line is `Key: value`, else 0. */
static size_t key_len(const struct line *l)
{
	size_t n = 0;

	while (n < l->len && n < 64 &&
	       ((l->s[n] >= 'A' && l->s[n] <= 'Z') || (l->s[n] >= 'a' && l->s[n] <= 'z') ||
		(n && ((l->s[n] >= '0' && l->s[n] <= '9') || l->s[n] == '-'))))
		n++;
	if (!n || n >= l->len || l->s[n] != ':')
		return 0;
	/* https://... is a URL, a::b is code */
	if (n + 1 < l->len && (l->s[n + 1] == '/' || l->s[n + 1] == ':'))
		return 0;
	return n;
}

static bool key_is_person(const char *key, size_t n)
{
	return (n > 3 && !strncasecmp(key + n - 3, "-by", 3)) ||
	       (n == 2 && (!strncasecmp(key, "Cc", 2) || !strncasecmp(key, "To", 2)));
}

static bool key_is_known(const char *key, size_t n)
{
	static const char *const known[] = {
		"Fixes",      "Link",	   "Closes",	 "BugLink", "Bugzilla",	       "References",
		"Message-ID", "Change-Id", "Depends-on", "Reverts", "Upstream-commit", "URL",
	};

	if (key_is_person(key, n))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (n == strlen(known[i]) && !strncasecmp(key, known[i], n))
			return true;
	}
	return false;
}

static enum line_kind line_kind(const struct line *l, bool after_trailer)
{
	size_t n = key_len(l);

	if (n)
		return key_is_known(l->s, n) ? LINE_KNOWN : LINE_OTHER_KEY;
	if (after_trailer && (l->s[0] == ' ' || l->s[0] == '\t'))
		return LINE_MORE;
	if (l->s[0] == '[' || (l->len > 12 && !strncmp(l->s, "(cherry pick", 12)))
		return LINE_NOTE;
	return LINE_TEXT;
}

/*
 * A message that is nothing but trailers has no subject. "cc: drop the old helper" is a subject,
 * so the value has to look right too.
 */
static bool is_sure_trailer(const struct line *l)
{
	size_t n = key_len(l);
	const char *v;
	size_t left;

	if (!n || !key_is_known(l->s, n))
		return false;
	v = l->s + n + 1;
	left = l->len - n - 1;
	if (key_is_person(l->s, n))
		return memchr(v, '@', left);
	if (n == 5 && !strncasecmp(l->s, "Fixes", 5)) {
		size_t hex;

		for (; left && *v == ' '; v++)
			left--;
		for (hex = 0;
		     hex < left && strchr("0123456789abcdefABCDEF", v[hex] ? v[hex] : ' ');)
			hex++;
		return hex >= 7;
	}
	return memmem(v, left, "://", 3);
}

/* Value of the trailer in line @i and what follows of it; *ret_next is the first line after it. */
static char *read_value(const struct lines *ls, size_t i, size_t end, size_t *ret_next)
{
	const struct line *l = &ls->v.items[i];
	size_t n = key_len(l), from = i;
	bool fix = n == 5 && !strncasecmp(l->s, "Fixes", 5);
	struct strbuf b = STRBUF_INIT;

	text_clean(&b, l->s + n + 1, l->len - n - 1);
	for (i++; i < end && b.len < VALUE_MAX; i++) {
		const struct line *more = &ls->v.items[i];
		enum line_kind kind = line_kind(more, true);
		/* a title broken by a mailer goes on at column 0 */
		bool open = fix && i - from < FIX_LINES && kind != LINE_KNOWN &&
			    trailers_fix_is_open(strbuf_str(&b));

		if (kind != LINE_MORE && !open)
			break;
		while (b.len && b.s[b.len - 1] == ' ')
			b.s[--b.len] = '\0';
		{
			_cleanup_(freep) char *text = text_clean_dup(more->s, more->len, VALUE_MAX);

			strbuf_addch(&b, ' ');
			strbuf_addstr(&b, text);
		}
	}
	*ret_next = i;
	{
		char *ret = text_clean_dup(strbuf_str(&b), b.len, VALUE_MAX);

		strbuf_done(&b);
		return ret;
	}
}

static void push_trailer(struct trailers *t, const struct line *l, const char *value,
			 const char *person)
{
	struct trailer tr = { 0 };
	size_t n = key_len(l);

	if (t->trailers.len >= TRAILERS_MAX) {
		t->truncated = true;
		return;
	}
	tr.key = xstrndup(l->s, n);
	tr.value = xstrdup(value);
	if (person)
		(void)address_split(person, &tr.name, &tr.addr, &tr.comment);
	vec_push(&t->trailers, tr);
	if (trailer_key_is(tr.key, "Fixes"))
		trailers_add_fix(t, value);
	else if (!person)
		trailers_add_link(t, t->trailers.len - 1);
}

/* End of the first address of a list "a@x, B <b@y> # comment": its comma, or the end. */
static size_t first_person(const char *s)
{
	bool quoted = false;
	int depth = 0;
	size_t i;

	for (i = 0; s[i]; i++) {
		if (s[i] == '"')
			quoted = !quoted;
		else if (!quoted && (s[i] == '<' || s[i] == '('))
			depth++;
		else if (!quoted && (s[i] == '>' || s[i] == ')'))
			depth--;
		else if (!quoted && s[i] == '#')
			return strlen(s);
		else if (!quoted && depth <= 0 && s[i] == ',')
			return i;
	}
	return i;
}

/* A Cc with several addresses gives one trailer for each; parts without an address are no people. */
static void push_people(struct trailers *t, const struct line *l, const char *value)
{
	bool found = false;
	const char *s = value;

	while (*s) {
		size_t n = first_person(s);
		const char *rest = s + n + strspn(s + n, ", ");
		/* in "a@x, # 5.10+" the comment belongs to the address before it */
		_cleanup_(freep) char *part = xstrndup(s, *rest == '#' ? strlen(s) : n);
		char *name, *addr, *comment;

		if (address_split(part, &name, &addr, &comment)) {
			push_trailer(t, l, value, part);
			found = true;
		}
		free(name);
		free(addr);
		free(comment);
		s = *rest == '#' ? "" : rest;
	}
	if (!found)
		push_trailer(t, l, value, value);
}

static void read_paragraph(const struct lines *ls, size_t from, size_t end, bool last,
			   struct trailers *t)
{
	size_t known = 0, text = 0, own = 0;
	bool after = false;

	for (size_t i = from; i < end; i++) {
		enum line_kind kind = line_kind(&ls->v.items[i], after);

		known += kind == LINE_KNOWN;
		text += kind == LINE_TEXT;
		own += kind != LINE_MORE;
		after = kind != LINE_TEXT;
	}
	if (!known || (!last && known * 2 < own))
		return;
	for (size_t i = from; i < end;) {
		const struct line *l = &ls->v.items[i];
		enum line_kind kind = line_kind(l, false);
		_cleanup_(freep) char *value = NULL;

		if (kind != LINE_KNOWN && (kind != LINE_OTHER_KEY || text)) {
			i++;
			continue;
		}
		value = read_value(ls, i, end, &i);
		if (key_is_person(l->s, key_len(l)))
			push_people(t, l, value);
		else
			push_trailer(t, l, value, NULL);
	}
}

/* First paragraph as one line, as git shows it; stops at the first trailer. */
static size_t read_subject(const struct lines *ls, size_t i, struct trailers *t)
{
	struct strbuf b = STRBUF_INIT;

	for (; i < ls->v.len && ls->v.items[i].len; i++) {
		if (is_sure_trailer(&ls->v.items[i]))
			break;
		if (b.len < SUBJECT_MAX) {
			if (b.len)
				strbuf_addch(&b, ' ');
			text_clean(&b, ls->v.items[i].s, ls->v.items[i].len);
		}
	}
	if (b.len)
		t->subject = text_clean_dup(b.s, b.len, SUBJECT_MAX);
	strbuf_done(&b);
	return i;
}

int trailers_parse(const char *msg, size_t len, struct trailers *ret, struct err *e)
{
	struct trailers t = { 0 };
	struct lines ls = { 0 };
	size_t i = 0, last = 0;

	if (len > TRAILERS_MAX_BYTES)
		return err_set(e, ERR_TOO_BIG, "commit message has %zu bytes, at most %u are read",
			       len, TRAILERS_MAX_BYTES);
	split_lines(msg, len, &ls);
	for (size_t j = 0; j < ls.v.len; j++) {
		if (ls.v.items[j].len)
			last = j + 1;
	}
	while (i < last && !ls.v.items[i].len)
		i++;
	i = read_subject(&ls, i, &t);
	while (i < last) {
		size_t end = i;

		while (end < last && ls.v.items[end].len)
			end++;
		if (end > i)
			read_paragraph(&ls, i, end, end == last, &t);
		i = end + 1;
	}
	trailers_class_links(&t);
	trailers_find_reverts(&t, msg, len);
	vec_done(&ls.v);
	*ret = t;
	return 0;
}

void trailers_done(struct trailers *t)
{
	if (!t)
		return;
	free(t->subject);
	vec_foreach (tr, &t->trailers) {
		free(tr->key);
		free(tr->value);
		free(tr->name);
		free(tr->addr);
		free(tr->comment);
	}
	vec_foreach (l, &t->links) {
		free(l->url);
		free(l->message_id);
	}
	vec_foreach (f, &t->fixes) {
		free(f->id);
		free(f->title);
	}
	vec_foreach (r, &t->reverts) {
		free(r->id);
		free(r->title);
	}
	vec_done(&t->trailers);
	vec_done(&t->links);
	vec_done(&t->fixes);
	vec_done(&t->reverts);
	*t = (struct trailers){ 0 };
}

const char *trailers_patch_id(const struct trailers *t)
{
	const char *id = NULL;

	vec_foreach (l, &t->links) {
		if (l->kind == TRAILER_LINK_PATCH)
			id = l->message_id;
	}
	return id;
}

const char *trailer_link_kind_name(enum trailer_link_kind kind)
{
	return kind == TRAILER_LINK_PATCH    ? "patch"
	       : kind == TRAILER_LINK_REPORT ? "report"
					     : "other";
}

/* An absent key means unknown. */
static void set_text(json_t *o, const char *key, const char *value)
{
	if (value)
		(void)json_object_set_new(o, key, json_string(value));
}

json_t *trailers_to_json(const struct trailers *t)
{
	json_t *root = json_object(), *list;

	set_text(root, "subject", t->subject);
	list = json_array();
	vec_foreach (tr, &t->trailers) {
		json_t *o = json_object();

		set_text(o, "key", tr->key);
		set_text(o, "value", tr->value);
		set_text(o, "name", tr->name);
		set_text(o, "addr", tr->addr);
		set_text(o, "comment", tr->comment);
		(void)json_array_append_new(list, o);
	}
	(void)json_object_set_new(root, "trailers", list);
	list = json_array();
	vec_foreach (l, &t->links) {
		json_t *o = json_object();

		set_text(o, "url", l->url);
		set_text(o, "message_id", l->message_id);
		set_text(o, "kind", trailer_link_kind_name(l->kind));
		(void)json_array_append_new(list, o);
	}
	(void)json_object_set_new(root, "links", list);
	list = json_array();
	vec_foreach (f, &t->fixes) {
		json_t *o = json_object();

		set_text(o, "id", f->id);
		set_text(o, "title", f->title);
		(void)json_object_set_new(o, "ok", json_boolean(f->ok));
		(void)json_array_append_new(list, o);
	}
	(void)json_object_set_new(root, "fixes", list);
	list = json_array();
	vec_foreach (r, &t->reverts) {
		json_t *o = json_object();

		set_text(o, "id", r->id);
		set_text(o, "title", r->title);
		(void)json_array_append_new(list, o);
	}
	(void)json_object_set_new(root, "reverts", list);
	return root;
}
