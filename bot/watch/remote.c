/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/remote.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"

#include <git2.h>
#include <string.h>

#define URL_MAX	   1024
#define BRANCH_MAX 200

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool host_ok(const char *host)
{
	const char *at = strchr(host, '@');
	const char *slash = strchr(host, '/');

	/* ssh takes "-oProxyCommand=…" as an option wherever a host or user may stand. */
	if (host[0] == '-' || host[0] == '\0' || host[0] == '/')
		return false;
	return !at || (slash && slash < at) || (at[1] != '-' && at[1] != '\0' && at[1] != '/');
}

/* user@host:path, as ssh and git know it */
static bool scp_like(const char *url)
{
	size_t user = strcspn(url, "@:/");
	const char *host = url + user + 1;
	size_t n;

	if (user == 0 || url[user] != '@')
		return false;
	n = strcspn(host, ":/@");
	return n > 0 && host[n] == ':' && host[n + 1] != '\0' && host[n + 1] != ':' && host_ok(url);
}

int remote_url_check(const char *url, bool allow_file, struct err *e)
{
	static const char *const schemes[] = { "https://", "ssh://", "git://" };

	if (strlen(url) > URL_MAX)
		return err_set(e, ERR_INVAL, "url of %zu bytes is too long", strlen(url));
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return err_set(e, ERR_INVAL, "url '%s' has a blank or control byte", url);
	if (url[0] == '/' || starts(url, "file:///")) {
		if (allow_file)
			return 0;
		return err_set(e, ERR_PERM,
			       "url '%s' is a local path; allow-file = true allows that", url);
	}
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (starts(url, schemes[i]) && host_ok(url + strlen(schemes[i])))
			return 0;
	if (scp_like(url))
		return 0;
	return err_set(e, ERR_INVAL, "url '%s' is not https://, ssh://, git:// or user@host:path",
		       url);
}

static bool ref_ok(const char *fmt, const char *name)
{
	_cleanup_(freep) char *ref = xasprintf("%s%s", fmt, name);
	int valid = 0;

	return git_reference_name_is_valid(&valid, ref) == 0 && valid;
}

int remote_tree_check(const char *name, struct err *e)
{
	if (parse_name(name) && ref_ok("refs/kperfbot/tree/", name))
		return 0;
	return err_set(e, ERR_INVAL, "'%s' is not a tree name (letters, digits, '.', '_', '-')",
		       name);
}

bool remote_branch_ok(const char *name)
{
	return strlen(name) <= BRANCH_MAX && utf8_is_valid(name) && ref_ok("refs/heads/", name);
}

int remote_pattern_check(const char *pattern, struct err *e)
{
	_cleanup_(freep) char *plain = xstrdup(pattern);

	/* What a star can stand for must be able to make a branch name. */
	for (char *p = plain; *p; p++)
		if (*p == '*')
			*p = 'x';
	if (remote_branch_ok(plain))
		return 0;
	return err_set(e, ERR_INVAL, "'%s' is not a branch name or pattern with '*'", pattern);
}

bool remote_pattern_match(const char *pattern, const char *branch)
{
	const char *star = NULL;
	const char *retry = NULL;

	/* On a mismatch let the last star eat one more byte: O(pattern * branch), no recursion. */
	while (*branch) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = branch;
		} else if (*pattern == *branch) {
			pattern++;
			branch++;
		} else if (star) {
			pattern = star;
			branch = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

bool remote_patterns_match(const char *const *patterns, const char *branch)
{
	for (; patterns && *patterns; patterns++)
		if (remote_pattern_match(*patterns, branch))
			return true;
	return false;
}
