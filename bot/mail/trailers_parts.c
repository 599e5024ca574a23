/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/trailers_parts.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/mail/address.h"
#include "bot/mail/text.h"

#include <string.h>

#define TITLE_MAX   1000
#define REVERTS_MAX 100

bool trailer_key_is(const char *key, const char *want)
{
	return !strcasecmp(key, want);
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Number of hex digits at @s if they stand alone and can be an id, else 0. */
static size_t id_span(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_hex(s[n]))
		n++;
	if (n < 8 || n > 40 || (n < len && strchr("ghijklmnopqrstuvwxyz_-/@", s[n] | 0x20)))
		return 0;
	return n;
}

static char *id_dup(const char *s, size_t n)
{
	char *id = xstrndup(s, n);

	for (char *p = id; *p; p++) {
		if (*p >= 'A' && *p <= 'F')
			*p = (char)(*p + ('a' - 'A'));
	}
	return id;
}

/*
 * Title within ("...") or (...): up to the last such sign, since titles hold quotes and brackets
 * of their own. A title in bare quotes is taken too; other text is none.
 */
static char *title_dup(const char *s)
{
	size_t len = strlen(s);
	const char *end = s + len;

	if (*s == '(') {
		const char *close = memrchr(s, ')', len);

		s++;
		if (close)
			end = close;
	} else if (*s != '"') {
		return NULL;
	}
	if (s < end && *s == '"') {
		const char *quote = memrchr(s + 1, '"', (size_t)(end - s - 1));

		s++;
		if (quote && quote >= s)
			end = quote;
	}
	while (s < end && *s == ' ')
		s++;
	return s < end ? text_clean_dup(s, (size_t)(end - s), TITLE_MAX) : NULL;
}

static bool is_merge_title(const char *title)
{
	static const char *const starts[] = {
		"Merge tag",	"Merge branch",	      "Merge commit",
		"Merge remote", "Merge pull request", "Merge patch series",
		"Merge git:",	"Merge http",	      "Merge /",
		"Merge series",
	};

	for (size_t i = 0; title && i < ARRAY_SIZE(starts); i++) {
		if (!strncmp(title, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

bool trailers_fix_is_open(const char *value)
{
	const char *open = strchr(value, '(');

	if (!open)
		return false;
	if (open[1] == '"')
		return !strstr(open, "\")");
	return !strchr(open, ')');
}

static bool is_revert_subject(const char *subject)
{
	return subject &&
	       (!strncmp(subject, "Revert \"", 8) || !strncasecmp(subject, "revert:", 7));
}

void trailers_add_fix(struct trailers *t, const char *value)
{
	struct trailer_fix fix = { 0 };
	const char *s = value;
	size_t n;

	if (!strncasecmp(s, "commit ", 7))
		s += 7;
	n = id_span(s, strlen(s));
	if (n) {
		fix.id = id_dup(s, n);
		s += n;
		s += strspn(s, " :,");
		fix.title = title_dup(s);
	} else {
		fix.title = *value ? xstrdup(value) : NULL;
	}
	fix.merge = fix.id && is_merge_title(fix.title);
	fix.ok = fix.id && !fix.merge && !is_revert_subject(t->subject);
	vec_push(&t->fixes, fix);
}

/* %XX of a URL path decoded into what may be a Message-ID; NULL if it is none. */
static char *message_id_dup(const char *s, size_t len)
{
	struct strbuf b = STRBUF_INIT;
	bool good;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '%' && i + 2 < len && is_hex(s[i + 1]) && is_hex(s[i + 2])) {
			const char hex[] = { s[i + 1], s[i + 2], '\0' };

			strbuf_addch(&b, (char)strtol(hex, NULL, 16));
			i += 2;
		} else {
			strbuf_addch(&b, s[i]);
		}
	}
	good = address_message_id_check(strbuf_str(&b), b.len);
	if (!good)
		strbuf_done(&b);
	return good ? strbuf_take(&b) : NULL;
}

/* The first segment of the path that can be a Message-ID: /r/ID, /LIST/ID/, /LIST/ID/T/#u. */
static char *url_message_id(const char *url)
{
	const char *s = strstr(url, "://");
	const char *end;

	if (!s || strncasecmp(url, "http", 4) != 0)
		return NULL;
	s = strchr(s + 3, '/');
	if (!s)
		return NULL;
	end = s + strcspn(s, "?#");
	while (s < end) {
		const char *next = memchr(s + 1, '/', (size_t)(end - s - 1));
		char *id;

		if (!next)
			next = end;
		id = message_id_dup(s + 1, (size_t)(next - s - 1));
		if (id)
			return id;
		s = next;
	}
	return NULL;
}

/* Is @host, or a domain above it, the host of this URL? "lore." means any host that begins so. */
static bool url_host_is(const char *url, const char *want)
{
	const char *s = strstr(url, "://");
	size_t len, n = strlen(want);

	if (!s)
		return false;
	s += 3;
	len = strcspn(s, "/:?#");
	if (want[n - 1] == '.')
		return len > n && !strncasecmp(s, want, n);
	return len >= n && !strncasecmp(s + len - n, want, n) &&
	       (len == n || s[len - n - 1] == '.');
}

void trailers_add_link(struct trailers *t, size_t index)
{
	const struct trailer *tr = &t->trailers.items[index];
	struct trailer_link link = { .kind = TRAILER_LINK_OTHER, .index = index };
	const char *v = tr->value;

	if (trailer_key_is(tr->key, "Message-ID")) {
		size_t len;

		v += *v == '<';
		len = strcspn(v, "> ");
		if (!address_message_id_check(v, len))
			return;
		link.message_id = xstrndup(v, len);
		link.kind = TRAILER_LINK_PATCH;
	} else if (strstr(v, "://") && !strncasecmp(v + (*v == '<'), "http", 4)) {
		v += *v == '<';
		link.url = xstrndup(v, strcspn(v, "> "));
		link.message_id = url_message_id(link.url);
	} else {
		return;
	}
	vec_push(&t->links, link);
}

static bool is_report_url(const char *url)
{
	return url_host_is(url, "bugzilla.") || url_host_is(url, "bugs.") ||
	       url_host_is(url, "syzkaller.appspot.com") || strstr(url, "/issues/") ||
	       strstr(url, "show_bug.cgi");
}

static const char *key_at(const struct trailers *t, size_t i)
{
	return i < t->trailers.len ? t->trailers.items[i].key : "";
}

static void class_link(struct trailers *t, struct trailer_link *l, size_t last_signoff)
{
	const struct trailer *tr = &t->trailers.items[l->index];
	bool below_reporter =
		l->index > 0 && (trailer_key_is(key_at(t, l->index - 1), "Reported-by") ||
				 trailer_key_is(key_at(t, l->index - 1), "Reported-and-tested-by"));
	bool archive;

	if (!l->url)
		return;
	archive = url_host_is(l->url, "lore.") || url_host_is(l->url, "lkml.") ||
		  url_host_is(l->url, "msgid.link");
	if (trailer_key_is(tr->key, "Link") && l->message_id &&
	    url_host_is(l->url, "patch.msgid.link"))
		l->kind = TRAILER_LINK_PATCH;
	else if (!trailer_key_is(tr->key, "Link"))
		l->kind = trailer_key_is(tr->key, "Closes") || trailer_key_is(tr->key, "BugLink") ||
					  trailer_key_is(tr->key, "Bugzilla")
				  ? TRAILER_LINK_REPORT
				  : TRAILER_LINK_OTHER;
	else if (below_reporter || is_report_url(l->url))
		l->kind = TRAILER_LINK_REPORT;
	else if (archive && l->message_id && l->index + 1 == last_signoff &&
		 strlen(l->url) == strlen(tr->value))
		/* text behind the URL ("[1]") means that a person wrote the line, not a tool */
		l->kind = TRAILER_LINK_PATCH;
}

void trailers_class_links(struct trailers *t)
{
	size_t last_signoff = 0;

	for (size_t i = 0; i < t->trailers.len; i++) {
		if (trailer_key_is(t->trailers.items[i].key, "Signed-off-by"))
			last_signoff = i;
	}
	vec_foreach (l, &t->links)
		class_link(t, l, last_signoff);
}

static void add_revert(struct trailers *t, const char *s, size_t len)
{
	struct trailer_revert rev = { 0 };
	size_t n = id_span(s, len);

	if (!n || t->reverts.len >= REVERTS_MAX)
		return;
	rev.id = id_dup(s, n);
	vec_foreach (r, &t->reverts) {
		if (!strcmp(r->id, rev.id)) {
			free(rev.id);
			return;
		}
	}
	vec_push(&t->reverts, rev);
}

void trailers_find_reverts(struct trailers *t, const char *s, size_t len)
{
	static const char phrase[] = "reverts commit ";
	const char *end = s + len;
	char *title = NULL;

	while (s < end) {
		const char *hit = memmem(s, (size_t)(end - s), phrase, sizeof(phrase) - 1);

		if (!hit)
			break;
		s = hit + sizeof(phrase) - 1;
		add_revert(t, s, (size_t)(end - s));
	}
	if (!t->subject || strncmp(t->subject, "Revert \"", 8) != 0)
		return;
	title = title_dup(t->subject + 7);
	if (title && !t->reverts.len)
		vec_push(&t->reverts, ((struct trailer_revert){ 0 }));
	/* the subject names the first one; with several of them it may name none of them well */
	if (title && t->reverts.len == 1)
		t->reverts.items[0].title = take_ptr(title);
	free(title);
}
