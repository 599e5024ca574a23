/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bisect/prior.h"

#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "bot/lab/relevance.h"

#include <string.h>

/*
 * What a reason is worth: the surer, the less. But the library never believes in a measurement by
 * more than 1e5 to 1 (grid.c), so a weight of w can only be overcome up to a confidence of 1 - 1e-5/w;
 * LEAST leaves 0.998. PRIOR_OFF_PATH is a guess about what a benchmark runs, and code that nobody
 * runs can still move other code about.
 */
#define LEAST 0.005

static const struct {
	const char *name;
	double weight;
} kinds[PRIOR_KINDS] = {
	[PRIOR_PLAIN] = { "plain", 1 },
	[PRIOR_OFF_PATH] = { "off-path", 0.3 },
	[PRIOR_QUIET_FOLDER] = { "quiet-folder", 0.1 },
	[PRIOR_NOT_BUILT] = { "not-built", 0.02 },
	[PRIOR_SAME_OBJECT] = { "same-object", 0.02 },
	[PRIOR_COMMENTS] = { "comments", 0.01 },
	[PRIOR_OTHER_ARCH] = { "other-arch", 0.01 },
	[PRIOR_TESTS] = { "tests", 0.01 },
	[PRIOR_DOCS] = { "docs", 0.01 },
	[PRIOR_SAME_BINARY] = { "same-binary", LEAST },
};

const char *prior_kind_name(enum prior_kind k)
{
	return kinds[k].name;
}

double prior_kind_weight(enum prior_kind k)
{
	return kinds[k].weight;
}

static bool ends_in(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && memcmp(s + len - n, end, n) == 0;
}

/* Files that a compiler names among what it has read; of others no list says that they were used. */
static bool is_compiled(const char *path, size_t len)
{
	return ends_in(path, len, ".c") || ends_in(path, len, ".h") || ends_in(path, len, ".S") ||
	       ends_in(path, len, ".rs");
}

static const char *base_of(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static bool is_recipe(const char *base)
{
	return !strcmp(base, "Makefile") || !strcmp(base, "Kbuild") || !strncmp(base, "Kconfig", 7);
}

static bool known(const struct prior_set *s)
{
	return s && s->n;
}

static bool same_object(const struct prior_context *c, const char *path, size_t len)
{
	_cleanup_(freep) char *stem = NULL;

	if (!known(c->same) || !(ends_in(path, len, ".c") || ends_in(path, len, ".S")))
		return false;
	stem = xstrndup(path, len - 2);
	return prior_set_has(c->same, stem);
}

static bool off_path(const struct prior_context *c, const char *path)
{
	struct relevance_input in = {
		.suite = c->suite, .test = c->test, .arch = c->arch, .paths = &path, .n_paths = 1
	};

	return c->suite && relevance_judge(&in, NULL) == RELEVANCE_NO;
}

/* What the file is by its name and by the builds. */
static enum prior_kind kind_of(const struct prior_context *c, const char *path)
{
	enum path_kind kind = relevance_path_kind(path, c->arch);
	size_t len = strlen(path);
	const char *base = base_of(path);
	bool lists = known(c->built);

	/* Whatever its name says: the compiler has read it. */
	if (lists && prior_set_has(c->built, path))
		return same_object(c, path, len) ? PRIOR_SAME_OBJECT : PRIOR_PLAIN;
	if (kind == PATH_TEXT)
		return PRIOR_DOCS;
	if (kind == PATH_TRIAL)
		return PRIOR_TESTS;
	if (kind == PATH_OTHER_ARCH)
		return PRIOR_OTHER_ARCH;
	if (lists && is_compiled(path, len))
		return PRIOR_NOT_BUILT;
	/* At the top and below arch/ everything hangs on them. */
	if (lists && is_recipe(base) && base > path && strncmp(path, "arch/", 5) != 0 &&
	    strncmp(path, "scripts/", 8) != 0 &&
	    !prior_set_below(c->built, path, (size_t)(base - path)))
		return PRIOR_QUIET_FOLDER;
	return PRIOR_PLAIN;
}

enum prior_kind prior_path_kind(const struct prior_context *c, const char *path, bool same_code)
{
	enum prior_kind kind = kind_of(c, path);

	if (same_code && kind < PRIOR_COMMENTS)
		kind = PRIOR_COMMENTS;
	if (kind < PRIOR_OFF_PATH && off_path(c, path))
		kind = PRIOR_OFF_PATH;
	return kind;
}

double prior_weight(const struct prior_context *c, const struct prior_commit *commit,
		    enum prior_kind *ret_kind)
{
	enum prior_kind kind = PRIOR_SAME_BINARY;
	double weight;

	for (size_t i = 0; i < commit->n_paths && kind != PRIOR_PLAIN; i++) {
		enum prior_kind k = prior_path_kind(c, commit->paths[i],
						    commit->same_code && commit->same_code[i]);

		if (k < kind)
			kind = k;
	}
	if (commit->more)
		kind = PRIOR_PLAIN;
	if (commit->same_binary)
		kind = PRIOR_SAME_BINARY;
	if (ret_kind)
		*ret_kind = kind;
	weight = kinds[kind].weight * (commit->merge ? PRIOR_MERGE_WEIGHT : 1);
	return weight < LEAST ? LEAST : weight;
}

/* As a bit for a path; 0: it may matter. */
static unsigned suspicion_of(enum prior_kind k)
{
	switch (k) {
	case PRIOR_COMMENTS:
		return PRIOR_SUSPECT_COMMENTS;
	case PRIOR_DOCS:
		return PRIOR_SUSPECT_DOCS;
	case PRIOR_OTHER_ARCH:
		return PRIOR_SUSPECT_ARCH;
	case PRIOR_TESTS:
		return PRIOR_SUSPECT_TESTS;
	case PRIOR_NOT_BUILT:
		return PRIOR_SUSPECT_NOT_BUILT;
	default:
		return 0;
	}
}

unsigned prior_suspicions(const struct prior_context *c, const struct prior_commit *commit)
{
	unsigned bits = 0;

	for (size_t i = 0; i < commit->n_paths; i++) {
		unsigned one = suspicion_of(prior_path_kind(
			c, commit->paths[i], commit->same_code && commit->same_code[i]));

		if (!one) {
			bits = 0;
			break;
		}
		bits |= one;
	}
	if (commit->more)
		bits = 0;
	if (commit->merge)
		bits |= PRIOR_SUSPECT_MERGE;
	if (commit->same_binary || (!commit->n_paths && !commit->more))
		bits |= PRIOR_SUSPECT_BINARY;
	return bits;
}

const char *prior_suspicion_name(enum prior_suspicion s)
{
	switch (s) {
	case PRIOR_SUSPECT_COMMENTS:
		return "comment-only";
	case PRIOR_SUSPECT_DOCS:
		return "docs-only";
	case PRIOR_SUSPECT_ARCH:
		return "other-arch";
	case PRIOR_SUSPECT_TESTS:
		return "tests-only";
	case PRIOR_SUSPECT_MERGE:
		return "merge";
	case PRIOR_SUSPECT_BINARY:
		return "same-binary";
	case PRIOR_SUSPECT_NOT_BUILT:
		return "not-built";
	}
	return "unknown";
}
