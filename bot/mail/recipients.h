/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who gets a report, and why. */
#pragma once

#include "bot/base/vec.h"

#include <stdbool.h>

struct err;
struct trailers;

/** RECIPIENTS_MAX - most addresses of one mail. */
#define RECIPIENTS_MAX 20

/** enum lives_in - how far a commit has travelled; decides who may be told. */
enum lives_in {
	LIVES_IN_PRIVATE,
	LIVES_IN_LIST,
	LIVES_IN_MAINTAINER,
	LIVES_IN_NEXT,
	LIVES_IN_MAINLINE,
	LIVES_IN_STABLE,
};

/** lives_in_parse() - from "private", "list", "maintainer", "next", "mainline", "stable". */
int lives_in_parse(const char *s, enum lives_in *ret, struct err *e);
const char *lives_in_name(enum lives_in l);

/** struct recipient_addr - borrowed: @name and @reason may be NULL, @addr need not be valid. */
struct recipient_addr {
	const char *name;
	const char *addr;
	const char *reason;
};

/**
 * struct recipients_rules - what the choice is made from; everything is borrowed.
 * @lives_in: private: @owner alone. list: the author, @patch (To and Cc of the patch mail; without
 *            it the people in the Cc and Signed-off-by trailers). maintainer, next: author,
 *            committer, Signed-off-by and @subsystem. mainline: also @kernel_list. stable: also
 *            @stable_list.
 * @class_broad: a broad benchmark moved, or a person asked for it: @regressions_list as well.
 * @owner, @author, @committer: addresses from the config or git, after .mailmap; may be empty.
 * @patch, @subsystem: lists of addresses; @reason of @subsystem defaults to "list from MAINTAINERS".
 * @kernel_list, @stable_list, @regressions_list: one address each; NULL: none.
 * @stop: never written to: "a@example.org", or "@example.org" for a whole domain.
 * @own_host: host of our own plus addresses (kperfbot+ID@): never written to; NULL: none.
 */
struct recipients_rules {
	enum lives_in lives_in;
	bool class_broad;
	struct recipient_addr owner;
	struct recipient_addr author;
	struct recipient_addr committer;
	const struct trailers *trailers;
	const struct recipient_addr *patch;
	size_t n_patch;
	const struct recipient_addr *subsystem;
	size_t n_subsystem;
	const char *kernel_list;
	const char *stable_list;
	const char *regressions_list;
	const char *const *stop;
	size_t n_stop;
	const char *own_host;
};

/**
 * struct recipient - one address with the reason it is there.
 * @name: clean text or NULL. @addr: passed address_check() (in @left_out: as it was, clean text).
 * @reason: "author of the commit", "committer", …; in @left_out why not: "stop list", ….
 * @to: belongs into To, else into Cc.
 */
struct recipient {
	char *name;
	char *addr;
	char *reason;
	bool to;
};

/** struct recipients - @chosen in the order of their weight, and what was @left_out. */
struct recipients {
	VEC(struct recipient) chosen;
	VEC(struct recipient) left_out;
};

/**
 * recipients_choose() - apply the rules.
 * @ret: filled; recipients_done() it. May end up empty: then there is nobody to tell.
 *
 * Left out: addresses that address_check() refuses, stable lists unless the tested tree is a stable
 * one (stable@kernel.org always), no-reply addresses, our own, the stop list, and what is above
 * RECIPIENTS_MAX. Double ones count once, with their first reason. The first chosen is To. Pure.
 */
void recipients_choose(const struct recipients_rules *rules, struct recipients *ret);

void recipients_done(struct recipients *r);
