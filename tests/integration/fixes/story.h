/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories told line by line, made with git fast-import. */
#pragma once

#include "tests/integration/range/repo.h"

/** STORY_MAX - commits of one story. */
#define STORY_MAX 64

/**
 * struct story - commits of branch main in the order told, from 0; @id: their hashes, to be used in
 * the messages of later ones.
 */
struct story {
	struct repo repo;
	char id[STORY_MAX][41];
	int n;
};

/** story_add() - a commit with @message on top of @branch; of a merge @other is the second parent. */
static inline const char *story_add(struct story *s, const char *branch, const char *other,
				    const char *message)
{
	struct strbuf in = STRBUF_INIT;
	char *path = xasprintf("%s/story", s->repo.dir), *id;
	FILE *f = fopen(path, "we");

	assert_true(s->n < STORY_MAX);
	assert_non_null(f);
	strbuf_addf(&in, "commit refs/heads/%s\ncommitter C <c@example.org> %d +0000\ndata %zu\n",
		    branch, 1700000000 + s->n * 100, strlen(message));
	strbuf_addstr(&in, message);
	id = repo_sh(&s->repo, "git rev-parse -q --verify refs/heads/%s || true", branch);
	if (id[0])
		strbuf_addf(&in, "\nfrom %s", id);
	if (other)
		strbuf_addf(&in, "\nmerge %s", other);
	strbuf_addstr(&in, "\n\n");
	assert_int_equal(fwrite(in.s, 1, in.len, f), in.len);
	assert_int_equal(fclose(f), 0);
	free(id);
	id = repo_sh(&s->repo, "git fast-import --quiet < story && git rev-parse refs/heads/%s",
		     branch);
	assert_int_equal(strlen(id), 40);
	memcpy(s->id[s->n], id, sizeof(s->id[0]));
	free(id);
	free(path);
	strbuf_done(&in);
	return s->id[s->n++];
}

/** story_addf() - the same on main, with a message made of parts. */
static inline const char *story_addf(struct story *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline const char *story_addf(struct story *s, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	const char *id;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	id = story_add(s, "main", NULL, strbuf_str(&b));
	strbuf_done(&b);
	return id;
}

static inline int story_set_up(void **state)
{
	struct story *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	repo_init(&s->repo);
	*state = s;
	return 0;
}

static inline int story_tear_down(void **state)
{
	struct story *s = *state;

	repo_done(&s->repo);
	free(s);
	return 0;
}
