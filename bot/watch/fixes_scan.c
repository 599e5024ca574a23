/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/mail/trailers.h"
#include "bot/watch/fixes.h"
#include "bot/watch/fixes_titles.h"

#include <string.h>

DEFINE_CLEANUP(git_odb *, git_odb_free);
DEFINE_CLEANUP(git_revwalk *, git_revwalk_free);

/* Longer messages are no work of a person; their trailers are not read. */
#define MESSAGE_MAX (1U << 20)
/* Reverts that are remembered, and commits of a culprit's title. */
#define TAKEN_MAX 20000
#define AGAIN_MAX 16
/* Claims by title of one culprit that are looked into. */
#define TITLED_MAX 32

/* The id of a commit that a newer one takes back. */
struct taken {
	char id[41];
	unsigned char len;
};

struct culprit {
	char hash[41];
	git_oid oid;
	char *title; /* NULL: not in the repository */
	bool merge;
	size_t claims, titled;
	VEC(git_oid) again;
};

/* A claim by title whose id has still to be shown to be in no history. */
struct titled {
	struct fixes_claim claim;
	char id[41]; /* "" if it gives none */
};

struct scan {
	git_repository *repo;
	git_odb *odb;
	git_oid tip;
	struct culprit *culprits;
	size_t n;
	VEC(struct taken) taken;
	unsigned char filter[8192]; /* a bit for the first four digits of each of them */
	VEC(struct titled) titled;
	struct fixes_claims *out;
	struct strbuf title;
};

void fixes_claims_done(struct fixes_claims *c)
{
	vec_foreach (it, &c->v)
		free(it->title);
	vec_done(&c->v);
	c->cut = false;
}

static void scan_done(struct scan *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->culprits[i].title);
		vec_done(&s->culprits[i].again);
	}
	free(s->culprits);
	vec_foreach (t, &s->titled)
		free(t->claim.title);
	vec_done(&s->titled);
	vec_done(&s->taken);
	strbuf_done(&s->title);
}

static unsigned four_digits(const char *id)
{
	char head[5];

	(void)snprintf(head, sizeof(head), "%.4s", id);
	return (unsigned)strtoul(head, NULL, 16) & 0xffff;
}

static bool is_taken(const struct scan *s, const char *hash)
{
	unsigned bit = four_digits(hash);

	if (!(s->filter[bit / 8] & (1U << (bit % 8))))
		return false;
	vec_foreach (t, &s->taken)
		if (!strncmp(t->id, hash, t->len))
			return true;
	return false;
}

/* Text that only speaks of reverting undoes nothing. */
static bool is_revert(const struct fixes_raw *raw, const struct trailers *t)
{
	static const char phrase[] = "\nThis reverts commit ";

	return (t->subject &&
		(!strncmp(t->subject, "Revert ", 7) || !strncmp(t->subject, "Reapply ", 8))) ||
	       memmem(raw->msg, raw->len, phrase, sizeof(phrase) - 1);
}

/* The walk goes from children to parents, so what takes a commit back is met before it. */
static void take_back(struct scan *s, const struct fixes_raw *raw, const struct trailers *t)
{
	if (!is_revert(raw, t))
		return;
	vec_foreach (r, &t->reverts) {
		struct taken taken;
		unsigned bit;

		if (!r->id)
			continue;
		if (s->taken.len >= TAKEN_MAX) {
			s->out->cut = true;
			return;
		}
		taken.len = (unsigned char)snprintf(taken.id, sizeof(taken.id), "%s", r->id);
		bit = four_digits(r->id);
		s->filter[bit / 8] |= (unsigned char)(1U << (bit % 8));
		vec_push(&s->taken, taken);
	}
}

static struct fixes_claim claim_of(const struct scan *s, size_t culprit, const git_oid *oid,
				   const struct fixes_raw *raw, bool reverts)
{
	struct fixes_claim c = { .culprit = culprit, .time = raw->time, .reverts = reverts };

	(void)git_oid_tostr(c.hash, sizeof(c.hash), oid);
	c.title = xstrdup(strbuf_str(&s->title));
	return c;
}

static void keep(struct scan *s, struct fixes_claim c)
{
	struct culprit *k = &s->culprits[c.culprit];

	vec_foreach (it, &s->out->v) {
		if (it->culprit == c.culprit && !strcmp(it->hash, c.hash)) {
			it->reverts |= c.reverts;
			free(c.title);
			return;
		}
	}
	if (k->claims >= FIXES_CLAIMS_MAX) {
		s->out->cut = true;
		free(c.title);
		return;
	}
	k->claims++;
	vec_push(&s->out->v, c);
}

/* A commit names culprit number @i by @id, @title or both; either may be NULL. */
static int name(struct scan *s, size_t i, const char *id, const char *title, const git_oid *oid,
		const struct fixes_raw *raw, bool reverts, struct err *e)
{
	struct culprit *k = &s->culprits[i];
	git_oid hit;
	int r;

	if (id && !strncmp(k->hash, id, strlen(id))) {
		r = fixes_id(s->repo, s->odb, id, &hit, e);
		if (r == 1 && git_oid_equal(&hit, &k->oid))
			keep(s, claim_of(s, i, oid, raw, reverts));
		return r < 0 ? r : 0;
	}
	if (title && !strcmp(title, k->title)) {
		struct titled t = { .claim = { 0 } };

		if (k->titled++ >= TITLED_MAX) {
			s->out->cut = true;
			return 0;
		}
		t.claim = claim_of(s, i, oid, raw, reverts);
		t.claim.by_title = true;
		(void)snprintf(t.id, sizeof(t.id), "%s", id ? id : "");
		vec_push(&s->titled, t);
	}
	return 0;
}

static int look_at_trailers(struct scan *s, const git_oid *oid, const struct fixes_raw *raw,
			    const struct trailers *t, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n; i++) {
		const struct culprit *k = &s->culprits[i];

		if (!k->title || git_oid_equal(&k->oid, oid))
			continue;
		vec_foreach (f, &t->fixes)
			if (r == 0 && f->ok && !k->merge)
				r = name(s, i, f->id, f->title, oid, raw, false, e);
		vec_foreach (v, &t->reverts)
			if (r == 0)
				r = name(s, i, v->id, v->title, oid, raw, true, e);
	}
	return r;
}

/* Most messages have none of these words, and are not parsed. */
static bool may_speak(const struct fixes_raw *raw)
{
	return raw->len <= MESSAGE_MAX &&
	       (memmem(raw->msg, raw->len, "ixes:", 5) || memmem(raw->msg, raw->len, "IXES:", 5) ||
		memmem(raw->msg, raw->len, "everts commit", 13) ||
		memmem(raw->msg, raw->len, "Revert \"", 8));
}

static void note_again(struct scan *s, const git_oid *oid)
{
	for (size_t i = 0; i < s->n; i++) {
		struct culprit *k = &s->culprits[i];

		if (k->title && k->again.len < AGAIN_MAX && !git_oid_equal(&k->oid, oid) &&
		    !strcmp(k->title, strbuf_str(&s->title)))
			vec_push(&k->again, *oid);
	}
}

static int look_at(struct scan *s, const git_oid *oid, struct err *e)
{
	_cleanup_(trailers_done) struct trailers t = { 0 };
	struct fixes_raw raw;
	char hash[41];
	int r;

	(void)git_oid_tostr(hash, sizeof(hash), oid);
	if (is_taken(s, hash))
		return 0;
	r = fixes_raw_read(s->odb, oid, &raw, e);
	if (r <= 0)
		return r;
	fixes_title(raw.msg, raw.len, &s->title);
	note_again(s, oid);
	r = 0;
	if (may_speak(&raw)) {
		r = trailers_parse(raw.msg, raw.len, &t, e);
		if (r == 0)
			r = look_at_trailers(s, oid, &raw, &t, e);
		if (r == 0)
			take_back(s, &raw, &t);
	}
	fixes_raw_done(&raw);
	return r;
}

static int read_culprits(struct scan *s, const char *const *culprits, size_t n, struct err *e)
{
	s->culprits = xcalloc(n + 1, sizeof(*s->culprits));
	for (; s->n < n; s->n++) {
		struct culprit *k = &s->culprits[s->n];
		struct fixes_raw raw;
		int r;

		if (strlen(culprits[s->n]) != 40 || git_oid_fromstr(&k->oid, culprits[s->n]) < 0)
			return err_set(e, ERR_INVAL, "'%.64s' is not a full commit id",
				       culprits[s->n]);
		(void)git_oid_tostr(k->hash, sizeof(k->hash), &k->oid);
		r = fixes_raw_read(s->odb, &k->oid, &raw, e);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		fixes_title(raw.msg, raw.len, &s->title);
		k->title = xstrdup(strbuf_str(&s->title));
		k->merge = raw.parents > 1;
		fixes_raw_done(&raw);
	}
	return 0;
}

/* What all culprits have behind them cannot fix them: where they meet, or the only one itself. */
static int hide_old(struct scan *s, git_revwalk *walk, struct err *e)
{
	_cleanup_(freep) git_oid *oids = xcalloc(s->n + 1, sizeof(*oids));
	size_t n = 0;
	git_oid base;
	int r = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->culprits[i].title)
			git_oid_cpy(&oids[n++], &s->culprits[i].oid);
	if (n == 1)
		git_oid_cpy(&base, &oids[0]);
	else
		r = git_merge_base_octopus(&base, s->repo, n, oids);
	if (r == GIT_ENOTFOUND)
		return 0;
	if (r == 0)
		r = git_revwalk_hide(walk, &base);
	return r < 0 ? err_set(e, ERR_GIT, "cannot tell where culprits meet: %s", fixes_why()) : 0;
}

static int walk(struct scan *s, size_t limit, struct err *e)
{
	_cleanup_(git_revwalk_freep) git_revwalk *walk = NULL;
	git_oid oid;
	size_t n = 0;
	int r = git_revwalk_new(&walk, s->repo);

	if (r == 0)
		r = git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL);
	if (r == 0)
		r = git_revwalk_push(walk, &s->tip);
	if (r == 0) {
		r = hide_old(s, walk, e);
		if (r < 0)
			return r;
	}
	while (r == 0 && (r = git_revwalk_next(&oid, walk)) == 0) {
		int rc;

		if (n++ >= limit) {
			s->out->cut = true;
			return 0;
		}
		rc = look_at(s, &oid, e);
		if (rc < 0)
			return rc;
	}
	if (r != GIT_ITEROVER)
		return err_set(e, ERR_GIT, "cannot walk the history of %s: %s",
			       git_oid_tostr_s(&s->tip), fixes_why());
	return 0;
}

/* An id that names a commit of the history is meant, whatever the title: such claims lose their hash. */
static int drop_known_ids(struct scan *s, struct err *e)
{
	_cleanup_(freep) git_oid *oids = xcalloc(s->titled.len + 1, sizeof(*oids));
	_cleanup_(freep) struct titled **of = xcalloc(s->titled.len + 1, sizeof(*of));
	_cleanup_(freep) bool *in = xcalloc(s->titled.len + 1, sizeof(*in));
	size_t n = 0;
	int r = 0;

	vec_foreach (t, &s->titled) {
		r = t->id[0] ? fixes_id(s->repo, s->odb, t->id, &oids[n], e) : 0;
		if (r < 0)
			return r;
		if (r > 1)
			t->claim.hash[0] = '\0';
		else if (r == 1)
			of[n++] = t;
	}
	r = fixes_in_history_all(s->repo, &s->tip, oids, n, in, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (in[i])
			of[i]->claim.hash[0] = '\0';
	return r;
}

static int is_below_culprit(const struct scan *s, const struct titled *t, struct err *e)
{
	git_oid oid;

	(void)git_oid_fromstr(&oid, t->claim.hash);
	return fixes_in_history(s->repo, &s->culprits[t->claim.culprit].oid, &oid, e);
}

/* Of the claims by title those stay whose title is that of the culprit alone. */
static int settle_titles(struct scan *s, struct err *e)
{
	struct fixes_wanteds w = { 0 };
	bool whole = true;
	int r = drop_known_ids(s, e);

	vec_foreach (t, &s->titled) {
		struct fixes_wanted want = { .title = s->culprits[t->claim.culprit].title };

		if (r >= 0 && t->claim.hash[0])
			r = is_below_culprit(s, t, e);
		else if (r >= 0)
			continue;
		if (r < 0)
			break;
		if (r == 1)
			t->claim.hash[0] = '\0';
		else
			vec_push(&w.v, want);
	}
	if (r >= 0)
		r = fixes_count(s->repo, &s->tip, &w, &whole, e);
	s->out->cut |= !whole;
	vec_foreach (t, &s->titled) {
		const struct culprit *k = &s->culprits[t->claim.culprit];
		const struct fixes_wanted *hit = fixes_counted(&w, k->title);

		if (r < 0 || !whole || !t->claim.hash[0] || !hit || hit->n != 1 ||
		    !git_oid_equal(&hit->oid, &k->oid))
			continue;
		keep(s, t->claim);
		t->claim.title = NULL;
	}
	vec_done(&w.v);
	return r < 0 ? r : 0;
}

/* Was the culprit applied again on top of this revert? */
static int is_moot(const struct scan *s, const struct fixes_claim *c, struct err *e)
{
	git_oid oid;

	if (!c->reverts)
		return 0;
	(void)git_oid_fromstr(&oid, c->hash);
	vec_foreach (a, &s->culprits[c->culprit].again) {
		int r = fixes_in_history(s->repo, a, &oid, e);

		if (r != 0)
			return r;
	}
	return 0;
}

static int drop_moot(struct scan *s, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < s->out->v.len; i++) {
		struct fixes_claim *c = &s->out->v.items[i];
		int r = is_moot(s, c, e);

		if (r < 0)
			return r;
		if (r)
			free(c->title);
		else
			s->out->v.items[n++] = *c;
		if (n < i + 1)
			c->title = NULL;
	}
	s->out->v.len = n;
	return 0;
}

int fixes_scan(git_repository *repo, const char *tip, const char *const *culprits, size_t n,
	       size_t limit, struct fixes_claims *ret, struct err *e)
{
	_cleanup_(git_odb_freep) git_odb *odb = NULL;
	_cleanup_(fixes_claims_done) struct fixes_claims out = { 0 };
	_cleanup_(scan_done) struct scan s = { .repo = repo, .out = &out };
	bool some = false;
	int r;

	if (n > FIXES_CULPRITS_MAX)
		return err_set(e, ERR_TOO_BIG, "%zu culprits, at most %d are looked for at once", n,
			       FIXES_CULPRITS_MAX);
	if (strlen(tip) != 40 || git_oid_fromstr(&s.tip, tip) < 0)
		return err_set(e, ERR_INVAL, "'%.64s' is not a full commit id", tip);
	if (git_repository_odb(&odb, repo) < 0)
		return err_set(e, ERR_GIT, "cannot read the repository: %s", fixes_why());
	if (!git_odb_exists(odb, &s.tip))
		return err_set(e, ERR_NOENT, "no commit %s", tip);
	s.odb = odb;
	r = read_culprits(&s, culprits, n, e);
	for (size_t i = 0; i < s.n; i++)
		some |= s.culprits[i].title != NULL;
	if (r == 0 && some)
		r = walk(&s, limit ? limit : FIXES_SCAN_MAX, e);
	if (r == 0)
		r = settle_titles(&s, e);
	if (r == 0)
		r = drop_moot(&s, e);
	if (r < 0)
		return r;
	*ret = out;
	out = (struct fixes_claims){ 0 };
	return 0;
}
