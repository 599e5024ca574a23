/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/base/strbuf.h"
#include "bot/watch/event.h"
#include "bot/watch/lsremote.h"
#include "bot/watch/remote.h"

#include <git2.h>
#include <string.h>

#define H1 "1111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222"
#define H3 "3333333333333333333333333333333333333333"

static void takes_the_addresses_of_git(void **state)
{
	static const char *const good[] = { "https://example.org/linux.git",
					    "ssh://git@example.org:22/linux.git",
					    "git://example.org/linux.git",
					    "git@example.org:linux.git" };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_ok(remote_url_check(good[i], false, &e), &e);
	assert_ok(remote_url_check("file:///srv/linux.git", true, &e), &e);
	assert_ok(remote_url_check("/srv/linux.git", true, &e), &e);
}

static void refuses_addresses_that_are_options_or_commands(void **state)
{
	static const char *const bad[] = { "--upload-pack=touch /tmp/x",
					   "--upload-pack=x",
					   "-u",
					   "",
					   "ext::sh -c id",
					   "ext::id",
					   "fd::17",
					   "http://example.org/linux.git",
					   "ssh://-oProxyCommand=id/x",
					   "ssh://git@-oProxyCommand=id/x",
					   "https:///x",
					   "-oProxyCommand=id@example.org:x",
					   "git@-oProxyCommand:x",
					   "git@ext::id",
					   "example.org:linux.git",
					   "linux.git",
					   "../linux.git",
					   "https://example.org/a b",
					   "https://example.org/\n",
					   "https://example.org/\x1b[m" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		assert_err(remote_url_check(bad[i], true, &e), ERR_INVAL, &e);
	}
}

static void refuses_local_paths_unless_allowed(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_err(remote_url_check("/srv/linux.git", false, &e), ERR_PERM, &e);
	assert_err(remote_url_check("file:///srv/linux.git", false, &e), ERR_PERM, &e);
}

static void checks_names_and_patterns(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(remote_tree_check("linus", &e), &e);
	assert_err(remote_tree_check("a.lock", &e), ERR_INVAL, &e);
	assert_err(remote_tree_check("a..b", &e), ERR_INVAL, &e);
	assert_err(remote_tree_check("a/b", &e), ERR_INVAL, &e);
	assert_err(remote_tree_check("", &e), ERR_INVAL, &e);
	assert_ok(remote_pattern_check("*", &e), &e);
	assert_ok(remote_pattern_check("linux-6.*.y", &e), &e);
	assert_ok(remote_pattern_check("for-next/*/x*", &e), &e);
	assert_err(remote_pattern_check("", &e), ERR_INVAL, &e);
	assert_err(remote_pattern_check("a b", &e), ERR_INVAL, &e);
	assert_err(remote_pattern_check("a:b", &e), ERR_INVAL, &e);
	assert_err(remote_pattern_check("../x", &e), ERR_INVAL, &e);
	assert_false(remote_branch_ok("caf\xe9"));
	assert_true(remote_branch_ok("caf\xc3\xa9"));
	assert_false(remote_branch_ok("\xed\xa0\x80"));
}

static void matches_patterns_as_git_does(void **state)
{
	static const char *const pats[] = { "master", "linux-6.*.y", NULL };

	(void)state;
	assert_true(remote_pattern_match("*", "a/b"));
	assert_true(remote_pattern_match("for-*/x", "for-a/b/x"));
	assert_true(remote_pattern_match("a*b*c", "axxbyyc"));
	assert_false(remote_pattern_match("a*b*c", "axxbyy"));
	assert_true(remote_pattern_match("a*", "a"));
	assert_false(remote_pattern_match("a", "ab"));
	assert_false(remote_pattern_match("a?", "ab"));
	assert_true(remote_patterns_match(pats, "linux-6.12.y"));
	assert_false(remote_patterns_match(pats, "linux-5.10.y"));
	assert_false(remote_patterns_match(NULL, "master"));
}

static void reads_the_list_of_a_remote(void **state)
{
	static const char text[] =
		H1 "\trefs/heads/master\n" H2 "\trefs/tags/v1\n" H3 "\trefs/tags/v1^{}\n" H1
		   "\trefs/heads/bad\xff\n" H1 "\trefs/heads/../x\n" H1 "\trefs/pull/1/head\n";
	struct lsremote l;
	struct err e = { 0 };

	(void)state;
	assert_ok(lsremote_parse(text, strlen(text), &l, &e), &e);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.refs[0].name, "master");
	assert_string_equal(l.refs[0].peeled, H1);
	assert_true(l.refs[1].is_tag);
	assert_string_equal(l.refs[1].name, "v1");
	assert_string_equal(l.refs[1].hash, H2);
	assert_string_equal(l.refs[1].peeled, H3);
	lsremote_done(&l);
}

static void refuses_lists_that_git_does_not_write(void **state)
{
	static const char no_newline[] = H1 "\trefs/heads/x";
	static const char *const bad[] = { "hello\n", H1,    no_newline, "111\trefs/heads/x\n",
					   "\n",      "\t\n" };
	struct lsremote l;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = { 0 };

		assert_err(lsremote_parse(bad[i], strlen(bad[i]), &l, &e), ERR_PARSE, &e);
	}
}

static void says_that_sha256_is_not_supported(void **state)
{
	static const char text[] = H1 "111111111111111111111111\trefs/heads/x\n";
	struct lsremote l;
	struct err e = { 0 };

	(void)state;
	assert_err(lsremote_parse(text, strlen(text), &l, &e), ERR_UNSUPPORTED, &e);
}

static int ancestor(void *arg, const char *old_hash, const char *new_hash, struct err *e)
{
	int *answer = arg;

	(void)old_hash;
	(void)new_hash;
	return *answer < 0 ? err_set(e, *answer, "no such commit") : *answer;
}

static struct mirror_head head(const char *branch, const char *hash)
{
	struct mirror_head h = { .branch = xstrdup(branch) };

	memcpy(h.hash, hash, sizeof(h.hash));
	return h;
}

static void tells_what_happened_to_each_branch(void **state)
{
	struct mirror_head old[] = { head("same", H1), head("gone", H1), head("up", H1) };
	struct mirror_head new[] = { head("up", H2), head("same", H1), head("born", H3) };
	struct mirror_event *ev = NULL;
	struct err e = { 0 };
	int answer = 1;
	size_t n = 0;

	(void)state;
	assert_ok(mirror_events(old, 3, new, 3, false, ancestor, &answer, &ev, &n, &e), &e);
	assert_int_equal(n, 3);
	assert_string_equal(ev[0].branch, "born");
	assert_int_equal(ev[0].kind, MIRROR_NEW);
	assert_string_equal(ev[0].old_hash, "");
	assert_string_equal(ev[1].branch, "gone");
	assert_int_equal(ev[1].kind, MIRROR_DELETED);
	assert_string_equal(ev[1].new_hash, "");
	assert_int_equal(ev[2].kind, MIRROR_MOVED);
	assert_string_equal(ev[2].old_hash, H1);
	assert_string_equal(ev[2].new_hash, H2);
	mirror_events_free(ev, n);

	answer = 0;
	assert_ok(mirror_events(old, 3, new, 3, false, ancestor, &answer, &ev, &n, &e), &e);
	assert_string_equal(mirror_event_kind_name(ev[2].kind), "forced");
	mirror_events_free(ev, n);

	answer = ERR_NOENT;
	assert_err(mirror_events(old, 3, new, 3, false, ancestor, &answer, &ev, &n, &e), ERR_NOENT,
		   &e);
	for (int i = 0; i < 3; i++) {
		free(old[i].branch);
		free(new[i].branch);
	}
}

static void calls_the_first_look_first(void **state)
{
	struct mirror_head new[] = { head("master", H1) };
	struct mirror_event *ev = NULL;
	struct err e = { 0 };
	int answer = 1;
	size_t n = 0;

	(void)state;
	assert_ok(mirror_events(NULL, 0, new, 1, true, ancestor, &answer, &ev, &n, &e), &e);
	assert_int_equal(n, 1);
	assert_string_equal(mirror_event_kind_name(ev[0].kind), "first");
	assert_string_equal(ev[0].new_hash, H1);
	mirror_events_free(ev, n);
	free(new[0].branch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_addresses_of_git),
		cmocka_unit_test(refuses_addresses_that_are_options_or_commands),
		cmocka_unit_test(refuses_local_paths_unless_allowed),
		cmocka_unit_test(checks_names_and_patterns),
		cmocka_unit_test(matches_patterns_as_git_does),
		cmocka_unit_test(reads_the_list_of_a_remote),
		cmocka_unit_test(refuses_lists_that_git_does_not_write),
		cmocka_unit_test(says_that_sha256_is_not_supported),
		cmocka_unit_test(tells_what_happened_to_each_branch),
		cmocka_unit_test(calls_the_first_look_first),
	};
	int r;

	(void)git_libgit2_init();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)git_libgit2_shutdown();
	return r;
}
