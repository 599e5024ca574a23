/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/fixes_titles.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/mail/text.h"
#include "bot/watch/fixes.h"

#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(git_object *, git_object_free);
DEFINE_CLEANUP(git_odb *, git_odb_free);
DEFINE_CLEANUP(git_revwalk *, git_revwalk_free);

#define TITLE_BYTES 8000
/* So few are asked for one by one: of a young one git need not look at the whole history. */
#define ALONE_MOST 4

const char *fixes_why(void)
{
	const git_error *last = git_error_last();

	return last && last->message ? last->message : "no reason given";
}

/* "committer NAME <MAIL> SECONDS ZONE": the number after the last '>'. */
static int64_t line_time(const char *line, size_t len)
{
	const char *s = memrchr(line, '>', len), *end = line + len;
	int64_t t = 0;

	for (s = s ? s + 1 : end; s < end && *s == ' ';)
		s++;
	for (; s < end && *s >= '0' && *s <= '9' && t < INT64_MAX / 16; s++)
		t = t * 10 + (*s - '0');
	return t;
}

int fixes_raw_read(git_odb *odb, const git_oid *oid, struct fixes_raw *ret, struct err *e)
{
	git_odb_object *obj = NULL;
	const char *s, *end;
	int r = git_odb_read(&obj, odb, oid);

	if (r == GIT_ENOTFOUND)
		return 0;
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot read commit %s: %s", git_oid_tostr_s(oid),
			       fixes_why());
	if (git_odb_object_type(obj) != GIT_OBJECT_COMMIT) {
		git_odb_object_free(obj);
		return 0;
	}
	*ret = (struct fixes_raw){ .obj = obj };
	s = git_odb_object_data(obj);
	end = s + git_odb_object_size(obj);
	while (s < end && *s != '\n') {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((nl ? nl : end) - s);

		ret->parents += len > 7 && !memcmp(s, "parent ", 7);
		if (len > 10 && !memcmp(s, "committer ", 10))
			ret->time = line_time(s, len);
		s += len + (nl ? 1 : 0);
	}
	ret->msg = s < end ? s + 1 : end;
	ret->len = (size_t)(end - ret->msg);
	return 1;
}

void fixes_raw_done(struct fixes_raw *raw)
{
	git_odb_object_free(raw->obj);
	*raw = (struct fixes_raw){ 0 };
}

void fixes_title(const char *msg, size_t len, struct strbuf *ret)
{
	const char *end = msg + len;
	size_t from;

	strbuf_reset(ret);
	while (msg < end && ret->len < TITLE_BYTES) {
		const char *nl = memchr(msg, '\n', (size_t)(end - msg));
		size_t n = (size_t)((nl ? nl : end) - msg);
		const char *line = msg;

		msg += n + (nl ? 1 : 0);
		while (n && strchr("\r\t ", line[n - 1]) && line[n - 1])
			n--;
		if (!n && ret->len)
			break;
		if (!n)
			continue;
		if (ret->len)
			strbuf_addch(ret, ' ');
		text_clean(ret, line, n < TITLE_BYTES ? n : TITLE_BYTES);
	}
	from = strspn(strbuf_str(ret), " ");
	if (from) {
		memmove(ret->s, ret->s + from, ret->len - from + 1);
		ret->len -= from;
	}
}

static int by_title(const void *a, const void *b)
{
	const struct fixes_wanted *x = a, *y = b;

	return strcmp(x->title, y->title);
}

static void sort(struct fixes_wanteds *w)
{
	size_t n = 0;

	if (w->v.len > 1)
		qsort(w->v.items, w->v.len, sizeof(*w->v.items), by_title);
	for (size_t i = 0; i < w->v.len; i++)
		if (!n || strcmp(w->v.items[n - 1].title, w->v.items[i].title) != 0)
			w->v.items[n++] = w->v.items[i];
	w->v.len = n;
}

static struct fixes_wanted *find(const struct fixes_wanteds *w, const char *title)
{
	const struct fixes_wanted key = { .title = title };

	return w->v.len ? bsearch(&key, w->v.items, w->v.len, sizeof(key), by_title) : NULL;
}

const struct fixes_wanted *fixes_counted(const struct fixes_wanteds *w, const char *title)
{
	return find(w, title);
}

static int count_one(git_odb *odb, const git_oid *oid, struct fixes_wanteds *w,
		     struct strbuf *title, struct err *e)
{
	struct fixes_raw raw;
	struct fixes_wanted *hit;
	int r = fixes_raw_read(odb, oid, &raw, e);

	if (r <= 0)
		return r;
	fixes_title(raw.msg, raw.len, title);
	hit = find(w, strbuf_str(title));
	if (hit && hit->n < 2) {
		hit->n++;
		git_oid_cpy(&hit->oid, oid);
	}
	fixes_raw_done(&raw);
	return 0;
}

int fixes_count(git_repository *repo, const git_oid *tip, struct fixes_wanteds *w, bool *ret_whole,
		struct err *e)
{
	_cleanup_(git_revwalk_freep) git_revwalk *walk = NULL;
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	_cleanup_(strbuf_done) struct strbuf title = STRBUF_INIT;
	size_t n = 0;
	git_oid oid;
	int r;

	sort(w);
	*ret_whole = true;
	if (!w->v.len)
		return 0;
	r = git_repository_odb(&odb, repo);
	if (r == 0)
		r = git_revwalk_new(&walk, repo);
	if (r == 0)
		r = git_revwalk_push(walk, tip);
	while (r == 0 && (r = git_revwalk_next(&oid, walk)) == 0) {
		int rc;

		if (n++ >= FIXES_HISTORY_MAX) {
			*ret_whole = false;
			return 0;
		}
		rc = count_one(odb, &oid, w, &title, e);
		if (rc < 0)
			return rc;
	}
	if (r != GIT_ITEROVER)
		return err_set(e, ERR_GIT, "cannot walk the history of %s: %s",
			       git_oid_tostr_s(tip), fixes_why());
	return 0;
}

/* A commit, or a tag that leads to one; another object of the same digits is not meant. */
static int add_hit(git_repository *repo, const git_oid *oid, git_oid *ret, struct err *e)
{
	_cleanup_(git_object_freep) git_object *object = NULL;
	_cleanup_(git_object_freep) git_object *commit = NULL;
	int r = git_object_lookup(&object, repo, oid, GIT_OBJECT_ANY);

	if (r < 0)
		return err_set(e, ERR_GIT, "cannot read object %s: %s", git_oid_tostr_s(oid),
			       fixes_why());
	if (git_object_type(object) != GIT_OBJECT_COMMIT &&
	    git_object_type(object) != GIT_OBJECT_TAG)
		return 0;
	if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0)
		return 0;
	git_oid_cpy(ret, git_object_id(commit));
	return 1;
}

/*
 * libgit2 says "ambiguous" when a file has the digits too. git looks at commits alone, and so do we:
 * the sixteen longer ids are asked for, down to those that are one object.
 */
static int id_hits(git_repository *repo, git_odb *odb, char id[41], size_t len, git_oid *ret,
		   int found, struct err *e)
{
	git_oid prefix, oid;
	int r;

	if (git_oid_fromstrn(&prefix, id, len) < 0)
		return found;
	r = git_odb_exists_prefix(&oid, odb, &prefix, len);
	if (r == GIT_ENOTFOUND)
		return found;
	if (r == 0) {
		r = add_hit(repo, &oid, ret, e);
		return r < 0 ? r : found + r;
	}
	if (r != GIT_EAMBIGUOUS || len >= 40)
		return err_set(e, ERR_GIT, "cannot look for commit '%s': %s", id, fixes_why());
	for (const char *digit = "0123456789abcdef"; *digit && found >= 0 && found < 2; digit++) {
		id[len] = *digit;
		id[len + 1] = '\0';
		found = id_hits(repo, odb, id, len + 1, ret, found, e);
	}
	id[len] = '\0';
	return found;
}

int fixes_id(git_repository *repo, git_odb *odb, const char *id, git_oid *ret, struct err *e)
{
	char digits[41];
	int n = snprintf(digits, sizeof(digits), "%s", id);

	if (n < 8 || n > 40)
		return 0;
	return id_hits(repo, odb, digits, (size_t)n, ret, 0, e);
}

int fixes_in_history(git_repository *repo, const git_oid *tip, const git_oid *oid, struct err *e)
{
	int r;

	if (git_oid_equal(tip, oid))
		return 1;
	r = git_graph_descendant_of(repo, tip, oid);
	if (r < 0)
		return err_set(e, ERR_GIT, "cannot walk from %s: %s", git_oid_tostr_s(tip),
			       fixes_why());
	return r;
}

struct sought {
	const git_oid *oid;
	bool *found;
};

static int by_oid(const void *a, const void *b)
{
	return git_oid_cmp(((const struct sought *)a)->oid, ((const struct sought *)b)->oid);
}

/* Ids that are equal lie side by side. Return: how many of @list are this one. */
static size_t note_met(struct sought *list, size_t n, const git_oid *oid)
{
	const struct sought key = { .oid = oid };
	const struct sought *hit = bsearch(&key, list, n, sizeof(key), by_oid);
	size_t i = hit ? (size_t)(hit - list) : n, met = 0;

	while (hit && i > 0 && git_oid_equal(list[i - 1].oid, oid))
		i--;
	for (; hit && i < n && git_oid_equal(list[i].oid, oid); i++, met++)
		*list[i].found = true;
	return met;
}

static int walk_for(git_repository *repo, const git_oid *tip, struct sought *list, size_t n,
		    struct err *e)
{
	_cleanup_(git_revwalk_freep) git_revwalk *walk = NULL;
	size_t left = n;
	git_oid oid;
	int r = git_revwalk_new(&walk, repo);

	qsort(list, n, sizeof(*list), by_oid);
	if (r == 0)
		r = git_revwalk_push(walk, tip);
	while (r == 0 && left && (r = git_revwalk_next(&oid, walk)) == 0)
		left -= note_met(list, n, &oid);
	return r == 0 || r == GIT_ITEROVER
		       ? 0
		       : err_set(e, ERR_GIT, "cannot walk the history of %s: %s",
				 git_oid_tostr_s(tip), fixes_why());
}

int fixes_in_history_all(git_repository *repo, const git_oid *tip, const git_oid *oids, size_t n,
			 bool *ret, struct err *e)
{
	_cleanup_(freep) struct sought *list = xcalloc(n + 1, sizeof(*list));
	_cleanup_(freep) bool *found = xcalloc(n + 1, sizeof(*found));
	int r = 0;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct sought){ &oids[i], &found[i] };
	if (n > ALONE_MOST)
		r = walk_for(repo, tip, list, n, e);
	for (size_t i = 0; n <= ALONE_MOST && r >= 0 && i < n; i++) {
		r = fixes_in_history(repo, tip, &oids[i], e);
		found[i] = r == 1;
	}
	if (r < 0)
		return r;
	memcpy(ret, found, n * sizeof(*ret));
	return 0;
}
