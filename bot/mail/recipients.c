/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/mail/recipients.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/mail/address.h"
#include "bot/mail/text.h"
#include "bot/mail/trailers.h"

#include <string.h>

#define NAME_MAX_CHARS 100

static const char *const lives_in_names[] = {
	[LIVES_IN_PRIVATE] = "private",	      [LIVES_IN_LIST] = "list",
	[LIVES_IN_MAINTAINER] = "maintainer", [LIVES_IN_NEXT] = "next",
	[LIVES_IN_MAINLINE] = "mainline",     [LIVES_IN_STABLE] = "stable",
};

int lives_in_parse(const char *s, enum lives_in *ret, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(lives_in_names); i++) {
		if (!strcmp(s, lives_in_names[i])) {
			*ret = (enum lives_in)i;
			return 0;
		}
	}
	return err_set(
		e, ERR_INVAL,
		"lives_in '%.80s' is none of private, list, maintainer, next, mainline, stable", s);
}

const char *lives_in_name(enum lives_in l)
{
	return lives_in_names[l];
}

static bool local_is(const char *addr, const char *want)
{
	size_t n = strlen(want);

	return !strncasecmp(addr, want, n) && (addr[n] == '@' || addr[n] == '+');
}

static bool host_is(const char *addr, const char *host)
{
	const char *at = strrchr(addr, '@');

	return at && !strcasecmp(at + 1, host);
}

/* Why @addr may not be written to; NULL if it may. */
static const char *refusal(const struct recipients_rules *r, const char *addr)
{
	/* mail to this address goes nowhere, it only marks commits for the stable team */
	if (address_equal(addr, "stable@kernel.org"))
		return "goes nowhere";
	if (local_is(addr, "stable") && !(r->lives_in == LIVES_IN_STABLE && r->stable_list &&
					  address_equal(addr, r->stable_list)))
		return "stable list";
	if (local_is(addr, "noreply") || local_is(addr, "no-reply") ||
	    local_is(addr, "donotreply") || strstr(addr, "@users.noreply."))
		return "takes no mail";
	if (r->own_host && local_is(addr, "kperfbot") && host_is(addr, r->own_host))
		return "our own address";
	for (size_t i = 0; i < r->n_stop; i++) {
		const char *s = r->stop[i];

		if (*s == '@' ? host_is(addr, s + 1) : address_equal(addr, s))
			return "stop list";
	}
	return NULL;
}

static void leave_out(struct recipients *ret, const char *addr, const char *why)
{
	struct recipient out = { .addr = text_clean_dup(addr, strlen(addr), ADDRESS_MAX),
				 .reason = xstrdup(why) };

	vec_push(&ret->left_out, out);
}

static void add(const struct recipients_rules *r, struct recipients *ret, const char *name,
		const char *addr, const char *reason)
{
	struct recipient rcpt = { 0 };
	const char *why;

	if (!addr || !*addr)
		return;
	vec_foreach (c, &ret->chosen) {
		if (address_equal(c->addr, addr))
			return;
	}
	vec_foreach (c, &ret->left_out) {
		if (address_equal(c->addr, addr))
			return;
	}
	why = address_check(addr, strlen(addr), NULL) < 0 ? "not a valid address"
							  : refusal(r, addr);
	if (!why && ret->chosen.len >= RECIPIENTS_MAX)
		why = "too many recipients";
	if (why) {
		leave_out(ret, addr, why);
		return;
	}
	rcpt.name = name && *name ? text_clean_dup(name, strlen(name), NAME_MAX_CHARS) : NULL;
	rcpt.addr = xstrdup(addr);
	rcpt.reason = xstrdup(reason);
	rcpt.to = ret->chosen.len == 0;
	vec_push(&ret->chosen, rcpt);
}

static void add_list(const struct recipients_rules *r, struct recipients *ret,
		     const struct recipient_addr *list, size_t n, const char *reason)
{
	for (size_t i = 0; i < n; i++)
		add(r, ret, list[i].name, list[i].addr, list[i].reason ? list[i].reason : reason);
}

static void add_trailers(const struct recipients_rules *r, struct recipients *ret, const char *key,
			 const char *reason)
{
	if (!r->trailers)
		return;
	vec_foreach (t, &r->trailers->trailers) {
		if (!strcasecmp(t->key, key))
			add(r, ret, t->name, t->addr, reason);
	}
}

void recipients_choose(const struct recipients_rules *r, struct recipients *ret)
{
	*ret = (struct recipients){ 0 };
	if (r->lives_in == LIVES_IN_PRIVATE) {
		add(r, ret, r->owner.name, r->owner.addr, "owner of the tree");
		return;
	}
	add(r, ret, r->author.name, r->author.addr, "author of the commit");
	if (r->lives_in == LIVES_IN_LIST) {
		add_list(r, ret, r->patch, r->n_patch, "recipient of the patch");
		if (!r->n_patch) {
			add_trailers(r, ret, "Signed-off-by", "signed the commit off");
			add_trailers(r, ret, "Cc", "named in Cc of the commit");
		}
	} else {
		add(r, ret, r->committer.name, r->committer.addr, "committer");
		add_list(r, ret, r->subsystem, r->n_subsystem, "list from MAINTAINERS");
		if (r->lives_in == LIVES_IN_MAINLINE || r->lives_in == LIVES_IN_STABLE)
			add(r, ret, NULL, r->kernel_list, "kernel list");
		if (r->lives_in == LIVES_IN_STABLE)
			add(r, ret, NULL, r->stable_list, "list of the stable tree");
	}
	if (r->class_broad)
		add(r, ret, NULL, r->regressions_list, "regressions list");
	if (r->lives_in != LIVES_IN_LIST)
		add_trailers(r, ret, "Signed-off-by", "signed the commit off");
}

static void list_done(struct recipient *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(items[i].name);
		free(items[i].addr);
		free(items[i].reason);
	}
}

void recipients_done(struct recipients *r)
{
	if (!r)
		return;
	list_done(r->chosen.items, r->chosen.len);
	list_done(r->left_out.items, r->left_out.len);
	vec_done(&r->chosen);
	vec_done(&r->left_out);
}
