/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/watch/mirror.h"
#include "tests/integration/repo.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct mirror *mirror;
static char *url;
static const char *const all[] = { "*", NULL };

static struct mirror_tree tree(const char *const *branches)
{
	return (struct mirror_tree){
		.name = "demo", .url = url, .branches = branches, .allow_file = true
	};
}

/* A remote "r" with one commit on master, and an empty mirror "m". */
static int setup(void **state)
{
	_cleanup_(freep) char *dir = NULL;
	struct err e = { 0 };

	if (repo_setup(state) < 0)
		return -1;
	run("git init -q -b master r; cd r; echo 1 >f; git add f; git commit -qm 'start'");
	dir = xasprintf("%s/m", repo_scratch);
	url = xasprintf("file://%s/r", repo_scratch);
	assert_ok(mirror_open(dir, &mirror, &e), &e);
	return 0;
}

static int teardown(void **state)
{
	mirror_free(mirror);
	free(url);
	return repo_teardown(state);
}

static struct mirror_fetched fetch(const char *const *branches)
{
	struct mirror_tree t = tree(branches);
	struct mirror_fetched f = { 0 };
	struct err e = { 0 };

	assert_ok(mirror_fetch(mirror, &t, &f, &e), &e);
	assert_null(f.note);
	return f;
}

static int fetch_fails(const char *bad_url, double idle_s, struct err *e)
{
	struct mirror_tree t = tree(all);

	t.url = bad_url;
	t.connect_s = idle_s;
	*e = (struct err){ 0 };
	return mirror_fetch(mirror, &t, NULL, e);
}

static char *head_of(const char *branch)
{
	struct mirror_head *heads;
	struct err e = { 0 };
	char *hash = NULL;
	size_t n;

	assert_ok(mirror_heads(mirror, "demo", NULL, &heads, &n, &e), &e);
	for (size_t i = 0; i < n; i++)
		if (strcmp(heads[i].branch, branch) == 0)
			hash = xstrdup(heads[i].hash);
	mirror_heads_free(heads, n);
	return hash;
}

static void assert_kept(const char *hash, bool want)
{
	_cleanup_(freep) char *out =
		sh("git --git-dir=m for-each-ref refs/kperfbot/keep/%s | wc -l", hash);

	assert_string_equal(out, want ? "1" : "0");
}

static void fetches_and_follows_a_branch(void **state)
{
	_cleanup_(freep) char *first = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *second = NULL;
	_cleanup_(freep) char *got = NULL;
	_cleanup_(freep) char *now = NULL;
	struct err e = { 0 };

	(void)state;
	assert_true(fetch(all).changed);
	got = head_of("master");
	assert_string_equal(got, first);
	assert_false(fetch(all).changed);
	run("cd r; echo 2 >f; git commit -qam 'second'");
	second = sh("git -C r rev-parse HEAD");
	assert_true(fetch(all).changed);
	now = head_of("master");
	assert_string_equal(now, second);
	assert_int_equal(mirror_is_ancestor(mirror, first, second, &e), 1);
	assert_int_equal(mirror_is_ancestor(mirror, second, first, &e), 0);
	assert_kept(first, false);
	assert_true(mirror_graph_usable(mirror));
}

static void keeps_the_old_tip_of_a_forced_update(void **state)
{
	_cleanup_(freep) char *old = NULL;
	_cleanup_(freep) char *new = NULL;
	_cleanup_(freep) char *now = NULL;
	struct mirror_commit c;
	struct err e = { 0 };

	(void)state;
	run("cd r; echo 2 >f; git commit -qam 'old'");
	old = sh("git -C r rev-parse HEAD");
	(void)fetch(all);
	run("cd r; git reset -q --hard HEAD~; echo 3 >f; git commit -qam 'new'");
	new = sh("git -C r rev-parse HEAD");
	(void)fetch(all);
	now = head_of("master");
	assert_string_equal(now, new);
	assert_int_equal(mirror_is_ancestor(mirror, old, new, &e), 0);
	assert_kept(old, true);
	run("git --git-dir=m -c gc.pruneExpire=now gc -q");
	assert_ok(mirror_commit(mirror, old, &c, &e), &e);
	mirror_commit_done(&c);
}

/* What a git that was killed with kill -9 leaves. */
static void a_lock_that_a_killed_git_left_does_not_stop_a_tree(void **state)
{
	static const char *const locks[] = { "refs/kperfbot/tree/demo/heads/master.lock",
					     "objects/info/commit-graph.lock" };
	_cleanup_(freep) char *path = xasprintf("%s/m.fetch.lock", repo_scratch);
	struct err e;
	int fd;

	(void)state;
	(void)fetch(all);
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++) {
		struct mirror_tree t = tree(all);
		struct mirror_fetched f = { 0 };

		run("cd r; echo %zu >>f; git commit -qam 'next'", i);
		run("touch m/%s", locks[i]);
		if (i == 0)
			assert_true(fetch_fails(url, 0, &e) < 0);
		run("touch -d '1 minute ago' m/%s", locks[i]);
		/* One that fetches may hold it. */
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_int_equal(flock(fd, LOCK_SH), 0);
		if (i == 0)
			assert_true(fetch_fails(url, 0, &e) < 0);
		assert_int_equal(close(fd), 0);
		e = (struct err){ 0 };
		assert_ok(mirror_fetch(mirror, &t, &f, &e), &e);
		mirror_fetched_done(&f);
		run("! test -e m/%s", locks[i]);
	}
	run("git --git-dir=m pack-refs --all; cd r; git branch -m master main");
	run("touch -d '1 minute ago' m/packed-refs.lock m/HEAD.lock");
	assert_true(fetch(all).changed);
	run("! test -e m/packed-refs.lock");
}

static void half_a_pack_does_not_stay(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/m.fetch.lock", repo_scratch);
	int fd;

	(void)state;
	(void)fetch(all);
	run("cd m/objects/pack; touch -d '1 minute ago' tmp_pack_abcdef tmp_idx_abcdef pack-x.keep; "
	    "touch tmp_pack_young");
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	(void)fetch(all);
	run("test -e m/objects/pack/tmp_pack_abcdef");
	assert_int_equal(close(fd), 0);
	(void)fetch(all);
	run("cd m/objects/pack; ! ls tmp_*_abcdef; test -e tmp_pack_young; test -e pack-x.keep");
}

static void drops_a_deleted_branch_and_keeps_its_tip(void **state)
{
	_cleanup_(freep) char *tip = NULL;
	_cleanup_(freep) char *gone = NULL;
	_cleanup_(freep) char *below = NULL;

	(void)state;
	run("cd r; git checkout -qb topic; echo 2 >f; git commit -qam 'topic'; git checkout -q master");
	tip = sh("git -C r rev-parse topic");
	(void)fetch(all);
	run("cd r; git branch -qD topic; git branch topic/one");
	assert_true(fetch(all).changed);
	gone = head_of("topic");
	assert_null(gone);
	below = head_of("topic/one");
	assert_non_null(below);
	assert_kept(tip, true);
}

static void leaves_out_branches_that_do_not_match(void **state)
{
	static const char *const some[] = { "linux-6.*.y", "nosuch", NULL };
	struct mirror_fetched f;
	struct mirror_head *heads;
	struct err e = { 0 };
	size_t n;

	(void)state;
	run("cd r; git branch linux-6.1.y; git branch linux-5.1.y");
	f = fetch(some);
	assert_int_equal(f.matched, 1);
	assert_string_equal(f.missing, "nosuch");
	mirror_fetched_done(&f);
	assert_ok(mirror_heads(mirror, "demo", NULL, &heads, &n, &e), &e);
	assert_int_equal(n, 1);
	assert_string_equal(heads[0].branch, "linux-6.1.y");
	mirror_heads_free(heads, n);
}

static void resolves_tags_branches_and_short_hashes(void **state)
{
	_cleanup_(freep) char *hash = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *blob = NULL;
	char prefix[9] = "";
	char got[41] = "";
	struct err e = { 0 };

	(void)state;
	run("cd r; git tag -am 'one' v1; git tag plain; git checkout -qb other; echo 9 >f; "
	    "git commit -qam other; git tag unrelated; git tag clash; git checkout -q master; "
	    "git branch clash");
	(void)fetch((const char *const[]){ "master", "clash", NULL });
	memcpy(prefix, hash, 8);
	assert_ok(mirror_resolve(mirror, "demo", "v1", got, &e), &e);
	assert_string_equal(got, hash);
	assert_ok(mirror_resolve(mirror, "demo", "plain", got, &e), &e);
	assert_string_equal(got, hash);
	assert_ok(mirror_resolve(mirror, "demo", "master", got, &e), &e);
	assert_string_equal(got, hash);
	assert_ok(mirror_resolve(mirror, NULL, prefix, got, &e), &e);
	assert_string_equal(got, hash);
	prefix[7] = '\0';
	assert_err(mirror_resolve(mirror, "demo", prefix, got, &e), ERR_NOENT, &e);
	/* A tag whose history was not fetched is not known. */
	assert_err(mirror_resolve(mirror, "demo", "unrelated", got, &e), ERR_NOENT, &e);
	assert_err(mirror_resolve(mirror, "demo", "../x", got, &e), ERR_NOENT, &e);
	blob = sh("git -C r rev-parse HEAD:f");
	assert_err(mirror_resolve(mirror, "demo", blob, got, &e), ERR_NOENT, &e);
	assert_string_equal(got, hash);
	(void)fetch(all);
	assert_ok(mirror_resolve(mirror, "demo", "unrelated", got, &e), &e);
	assert_err(mirror_resolve(mirror, "demo", "clash", got, &e), ERR_AMBIGUOUS, &e);
	run("cd r; git tag -d v1");
	(void)fetch(all);
	assert_err(mirror_resolve(mirror, "demo", "v1", got, &e), ERR_NOENT, &e);
}

static void lists_new_commits_children_first(void **state)
{
	_cleanup_(freep) char *base = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *tip = NULL;
	struct mirror_commit *c;
	struct err e = { 0 };
	bool more;
	size_t n;

	(void)state;
	run("cd r; for i in 2 3 4; do echo $i >f; git commit -qam \"change $i\"; done; "
	    "git checkout -qb side %s; echo s >s; git add s; git commit -qm side; "
	    "git checkout -q master; git merge -q -m 'merge' side",
	    base);
	tip = sh("git -C r rev-parse HEAD");
	(void)fetch(all);
	assert_ok(mirror_new_commits(mirror, base, tip, 100, &c, &n, &more, &e), &e);
	assert_int_equal(n, 5);
	assert_false(more);
	assert_string_equal(c[0].hash, tip);
	assert_int_equal(c[0].n_parents, 2);
	assert_string_equal(c[0].subject, "merge");
	mirror_commits_free(c, n);
	assert_ok(mirror_new_commits(mirror, base, tip, 2, &c, &n, &more, &e), &e);
	assert_int_equal(n, 2);
	assert_true(more);
	mirror_commits_free(c, n);
	assert_ok(mirror_new_commits(mirror, NULL, tip, 100, &c, &n, &more, &e), &e);
	assert_int_equal(n, 1);
	mirror_commits_free(c, n);
	assert_ok(mirror_new_commits(mirror, tip, tip, 100, &c, &n, &more, &e), &e);
	assert_int_equal(n, 0);
	mirror_commits_free(c, n);
}

static void lists_the_files_that_a_commit_changes(void **state)
{
	_cleanup_(freep) char *base = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *one = NULL, *two = NULL;
	char **files;
	struct err e = { 0 };
	bool more;
	size_t n;

	(void)state;
	run("cd r; mkdir -p mm/deep; echo a >mm/deep/a.c; echo b >b; chmod +x f; git add -A; "
	    "git commit -qm one");
	one = sh("git -C r rev-parse HEAD");
	run("cd r; git mv mm/deep/a.c mm/a.c; ln -sf a b; echo 9 >f; git add -A; git commit -qm two");
	two = sh("git -C r rev-parse HEAD");
	(void)fetch(all);
	assert_ok(mirror_changed_files(mirror, base, one, 100, &files, &n, &more, &e), &e);
	assert_int_equal(n, 3);
	assert_false(more);
	assert_string_equal(files[0], "b");
	assert_string_equal(files[1], "f");
	assert_string_equal(files[2], "mm/deep/a.c");
	mirror_files_free(files, n);
	assert_ok(mirror_changed_files(mirror, one, two, 100, &files, &n, &more, &e), &e);
	assert_int_equal(n, 4); /* both names of the file that was moved */
	mirror_files_free(files, n);
	assert_ok(mirror_changed_files(mirror, one, two, 2, &files, &n, &more, &e), &e);
	assert_int_equal(n, 2);
	assert_true(more);
	mirror_files_free(files, n);
	assert_ok(mirror_changed_files(mirror, two, two, 2, &files, &n, &more, &e), &e);
	assert_int_equal(n, 0);
	mirror_files_free(files, n);
	assert_err(mirror_changed_files(mirror, two, "0123456789012345678901234567890123456789", 2,
					&files, &n, &more, &e),
		   ERR_NOENT, &e);
}

static void reads_who_wrote_a_commit(void **state)
{
	_cleanup_(freep) char *hash = sh("git -C r rev-parse HEAD");
	_cleanup_(freep) char *tree_hash = sh("git -C r rev-parse HEAD^{tree}");
	struct mirror_commit c;
	struct err e = { 0 };

	(void)state;
	(void)fetch(all);
	assert_ok(mirror_commit(mirror, hash, &c, &e), &e);
	assert_string_equal(c.tree_hash, tree_hash);
	assert_string_equal(c.author.name, "Ann Author");
	assert_string_equal(c.author.mail, "ann@example.org");
	assert_int_equal(c.author.time, 1700000000);
	assert_int_equal(c.author.offset_min, 60);
	assert_string_equal(c.committer.mail, "carl@example.org");
	assert_int_equal(c.committer.offset_min, -150);
	mirror_commit_done(&c);
	assert_err(mirror_commit(mirror, "0123", &c, &e), ERR_INVAL, &e);
	assert_err(mirror_commit(mirror, "0123456789012345678901234567890123456789", &c, &e),
		   ERR_NOENT, &e);
}

static void carries_hostile_messages_as_bytes(void **state)
{
	_cleanup_(freep) char *big = NULL;
	_cleanup_(freep) char *nul = NULL;
	struct mirror_commit c;
	struct err e = { 0 };

	(void)state;
	run("cd r; { printf '<script>\\033[31m\\377\\n\\n'; head -c 100000 /dev/zero | tr '\\0' x; } "
	    ">../msg; echo 2 >f; git -c i18n.commitEncoding=latin1 commit -qaF ../msg --cleanup=verbatim");
	big = sh("git -C r rev-parse HEAD");
	nul = sh(
		"cd r; { printf 'tree %%s\\nparent %%s\\nauthor A <a@example.org> 1 +0000\\n' "
		"$(git rev-parse HEAD^{tree}) $(git rev-parse HEAD); "
		"printf 'committer C <c@example.org> 2 +0000\\n\\nbefore\\0after\\n'; } >../obj; "
		"h=$(git hash-object -t commit -w --literally ../obj); git update-ref refs/heads/nul $h; echo $h");
	(void)fetch(all);
	assert_ok(mirror_commit(mirror, big, &c, &e), &e);
	assert_in_range(c.message_len, 100000, 100100);
	assert_string_equal(c.subject, "<script>\033[31m\377");
	mirror_commit_done(&c);
	assert_ok(mirror_commit(mirror, nul, &c, &e), &e);
	assert_int_equal(c.message_len, 13);
	assert_memory_equal(c.message, "before\0after\n", 13);
	assert_string_equal(c.subject, "before");
	mirror_commit_done(&c);
}

static void keeps_two_trees_apart(void **state)
{
	struct mirror_tree t = tree(all);
	struct mirror_head *heads;
	struct err e = { 0 };
	size_t n;

	(void)state;
	t.name = "other";
	assert_ok(mirror_fetch(mirror, &t, NULL, &e), &e);
	assert_ok(mirror_heads(mirror, "demo", NULL, &heads, &n, &e), &e);
	assert_int_equal(n, 0);
	mirror_heads_free(heads, n);
	assert_ok(mirror_heads(mirror, "other", NULL, &heads, &n, &e), &e);
	assert_int_equal(n, 1);
	mirror_heads_free(heads, n);
}

/* A listening socket, or with @backlog < 0 a port that was just closed. */
static int loopback(int backlog, int *ret_port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(sa);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	*ret_port = ntohs(sa.sin_port);
	if (backlog < 0)
		closep(&fd);
	else
		assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static void says_that_a_remote_is_away(void **state)
{
	_cleanup_(freep) char *closed = NULL;
	_cleanup_(freep) char *silent = NULL;
	struct mirror_tree t = tree(all);
	struct err e;
	int port;
	int fd;

	(void)state;
	(void)loopback(-1, &port);
	closed = xasprintf("git://127.0.0.1:%d/r", port);
	assert_err(fetch_fails(closed, 0, &e), ERR_GIT_AWAY, &e);
	assert_non_null(strstr(e.msg, "refused"));
	fd = loopback(4, &port);
	silent = xasprintf("git://127.0.0.1:%d/r", port);
	assert_err(fetch_fails(silent, 0.3, &e), ERR_GIT_AWAY, &e);
	assert_non_null(strstr(e.msg, "silent"));
	t.url = silent;
	t.total_s = 0.3;
	assert_err(mirror_fetch(mirror, &t, NULL, &e), ERR_GIT_AWAY, &e);
	assert_non_null(strstr(e.msg, "not done"));
	closep(&fd);
}

static void gives_the_reason_of_git(void **state)
{
	_cleanup_(freep) char *missing = xasprintf("%s/nosuch", repo_scratch);
	struct mirror_tree t = tree(all);
	struct err e;

	(void)state;
	assert_err(fetch_fails(missing, 0, &e), ERR_GIT, &e);
	assert_non_null(strstr(e.msg, "does not appear to be a git repository"));
	assert_err(fetch_fails("--upload-pack=id", 0, &e), ERR_INVAL, &e);
	assert_err(fetch_fails("ext::id", 0, &e), ERR_INVAL, &e);
	t.allow_file = false;
	assert_err(mirror_fetch(mirror, &t, NULL, &e), ERR_PERM, &e);
}

static void says_what_is_not_supported(void **state)
{
	_cleanup_(freep) char *shallow = xasprintf("file://%s/shallow", repo_scratch);
	_cleanup_(freep) char *sha256 = xasprintf("file://%s/sha256", repo_scratch);
	_cleanup_(freep) char *path = xasprintf("%s/shallow/.git", repo_scratch);
	struct mirror *other = NULL;
	struct err e;

	(void)state;
	run("git init -q --object-format=sha256 sha256; cd sha256; git commit -q --allow-empty -m x");
	assert_err(fetch_fails(sha256, 0, &e), ERR_UNSUPPORTED, &e);
	run("cd r; echo 2 >f; git commit -qam 'second'; cd ..; git clone -q --depth 1 %s shallow",
	    url);
	assert_err(fetch_fails(shallow, 0, &e), ERR_UNSUPPORTED, &e);
	run("touch shallow/.git/kperfbot.gitconfig");
	assert_err(mirror_open(path, &other, &e), ERR_UNSUPPORTED, &e);
}

static void runs_no_hook_and_no_config_of_others(void **state)
{
	struct stat st;
	_cleanup_(freep) char *made = xasprintf("%s/made", repo_scratch);

	(void)state;
	run("mkdir -p m/hooks; printf '#!/bin/sh\\ntouch %s\\n' >m/hooks/reference-transaction; "
	    "chmod +x m/hooks/*",
	    made);
	(void)setenv("GIT_DIR", "/nonexistent", 1); /* NOLINT(concurrency-mt-unsafe) */
	assert_true(fetch(all).changed);
	(void)unsetenv("GIT_DIR"); /* NOLINT(concurrency-mt-unsafe) */
	assert_int_equal(stat(made, &st), -1);
}

static void opens_what_is_there_again(void **state)
{
	struct mirror *again = NULL;
	struct mirror_head *heads;
	struct err e = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(chdir(repo_scratch), 0);
	assert_ok(mirror_open("m", &again, &e), &e);
	assert_int_equal(chdir("/"), 0);
	assert_string_equal(mirror_dir(again), mirror_dir(mirror));
	/* Fetched through one handle, seen by the other. */
	(void)fetch(all);
	assert_ok(mirror_heads(again, "demo", all, &heads, &n, &e), &e);
	assert_int_equal(n, 1);
	mirror_heads_free(heads, n);
	mirror_free(again);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(fetches_and_follows_a_branch),
		T(keeps_the_old_tip_of_a_forced_update),
		T(a_lock_that_a_killed_git_left_does_not_stop_a_tree),
		T(half_a_pack_does_not_stay),
		T(drops_a_deleted_branch_and_keeps_its_tip),
		T(leaves_out_branches_that_do_not_match),
		T(resolves_tags_branches_and_short_hashes),
		T(lists_new_commits_children_first),
		T(lists_the_files_that_a_commit_changes),
		T(reads_who_wrote_a_commit),
		T(carries_hostile_messages_as_bytes),
		T(keeps_two_trees_apart),
		T(says_that_a_remote_is_away),
		T(gives_the_reason_of_git),
		T(says_what_is_not_supported),
		T(runs_no_hook_and_no_config_of_others),
		T(opens_what_is_there_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
