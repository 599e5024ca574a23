/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parents of the culprit that lie outside of the range: of a topic that left history before the good
 * end and was merged behind it. The search takes them for good; before the commit is named, they are
 * built and measured in turns with it. One that cannot be is replaced by its first parent, and so on.
 *
 * Chosen once, and kept with the status under "checks", as "outside" [{commit, measured, older,
 * before, why}]: its parent, what is measured for it, how many commits older that is, whether that
 * is an ancestor of the good end, and why nothing can be measured for it.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

struct strbuf;

/** BISECTION_OUTSIDE_MAX - parents outside of the range that are looked at; a merge may have more. */
#define BISECTION_OUTSIDE_MAX 8

/**
 * bisection_outside_parents() - what is, or would be, measured for the parents of @commit outside of
 * the range; the good end may be among them.
 * @ret: BISECTION_OUTSIDE_MAX. Return: how many; 0: there are none, or the good end stands for them.
 */
size_t bisection_outside_parents(const struct bisection_run *b, int commit, char (*ret)[41]);

/** bisection_outside_real() - likewise, but the parents that it has in git. */
size_t bisection_outside_real(const struct bisection_run *b, int commit, char (*ret)[41]);

/** bisection_outside_choose() - note those of @culprit, a hash, in b->checks. */
void bisection_outside_choose(struct bisection_run *b, const char *culprit);

/** bisection_outside_ahead() - have what was chosen built meanwhile. */
int bisection_outside_ahead(struct bisection_run *b, struct err *e);

/** bisection_outside_look() - replace what cannot be measured. Return: 0, an error. */
int bisection_outside_look(struct bisection_run *b, struct err *e);

/** bisection_outside_lost() - the parent of @culprit, a hash, for which nothing can be measured; or NULL. */
const json_t *bisection_outside_lost(const struct bisection_run *b, const char *culprit);

/** bisection_outside_parent() - the parent for which @hash is measured; @hash itself if none. */
const char *bisection_outside_parent(const struct bisection_run *b, const char *hash);

/**
 * bisection_outside_commits() - adds what was chosen to @list, at most BISECTION_OUTSIDE_MAX.
 * Borrowed from b->checks.
 */
size_t bisection_outside_commits(const struct bisection_run *b, const char **list);

/** bisection_outside_text() - @what with the hash, "its parent 0123…", and where that lies. */
void bisection_outside_text(const struct bisection_run *b, const char *what, const char *hash,
			    struct strbuf *text);

/** bisection_outside_result() - adds "outside" to @result, of culprit @hash, if there is any. */
void bisection_outside_result(const struct bisection_run *b, const char *hash, json_t *result);
