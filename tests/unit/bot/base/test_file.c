/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/kperfbot-file-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? chmod(dir, 0755) : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	return file_remove_tree(dir, NULL);
}

/* Path below the folder of the test; valid until the fourth next call. */
static const char *at(const char *name)
{
	static char buf[4][300];
	static int i;

	i = (i + 1) % 4;
	(void)snprintf(buf[i], sizeof(buf[i]), "%s/%s", dir, name);
	return buf[i];
}

static void assert_content(const char *path, const char *want)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(path, 1 << 20, &b, &e), &e);
	assert_string_equal(strbuf_str(&b), want);
	strbuf_done(&b);
}

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d)) /* NOLINT(concurrency-mt-unsafe): own stream */
		n++;
	(void)closedir(d);
	return n - 2;
}

static void put(const char *path, const char *text)
{
	struct err e = { 0 };

	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
}

static void writes_with_the_wanted_mode_and_leaves_no_other_file(void **state)
{
	struct stat st;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("w"), 0755, &e), &e);
	assert_ok(file_write(at("w/f"), "abc", 3, 0640, &e), &e);
	assert_content(at("w/f"), "abc");
	assert_int_equal(stat(at("w/f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	put(at("w/f"), "");
	assert_content(at("w/f"), "");
	assert_int_equal(entries(at("w")), 1);
}

static void a_failed_write_keeps_the_old_file(void **state)
{
	struct err e = { 0 };
	char name[300];

	(void)state;
	assert_err(file_write(at("none/f"), "x", 1, 0644, &e), ERR_NOENT, &e);
	assert_non_null(strstr(e.msg, "none/f"));
	put(at("plain"), "old");
	assert_err(file_write(at("plain/f"), "x", 1, 0644, &e), ERR_NOENT, &e);
	assert_ok(file_mkdirs(at("fold/er"), 0755, &e), &e);
	assert_true(file_write(at("fold"), "x", 1, 0644, &e) < 0);
	assert_int_equal(entries(at("fold")), 1);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(file_write(name, "x", 1, 0644, &e) < 0);
	assert_content(at("plain"), "old");
}

static void a_write_that_hits_a_limit_leaves_old_content_and_no_rest(void **state)
{
	int status = 0;
	pid_t pid;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("full"), 0755, &e), &e);
	put(at("full/f"), "old");
	pid = fork();
	if (pid == 0) {
		struct rlimit rl = { 100, 100 };
		char big[5000] = { 0 };

		(void)signal(SIGXFSZ, SIG_IGN);
		(void)setrlimit(RLIMIT_FSIZE, &rl);
		_exit(file_write(at("full/f"), big, sizeof(big), 0644, NULL) < 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_content(at("full/f"), "old");
	assert_int_equal(entries(at("full")), 1);
}

static void an_unwritable_folder_is_said(void **state)
{
	int status = 0;
	pid_t pid;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("closed"), 0555, &e), &e);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		_exit(file_write(at("closed/f"), "x", 1, 0644, &e) == ERR_PERM &&
				      file_mkdirs(at("closed/d"), 0755, &e) == ERR_PERM
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void writing_replaces_a_link_and_not_what_it_points_to(void **state)
{
	struct stat st;

	(void)state;
	put(at("target"), "keep");
	assert_int_equal(symlink(at("target"), at("link")), 0);
	put(at("link"), "new");
	assert_content(at("target"), "keep");
	assert_content(at("link"), "new");
	assert_int_equal(lstat(at("link"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void reading_has_a_limit_and_leaves_the_buffer_on_failure(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	(void)state;
	put(at("five"), "12345");
	strbuf_addstr(&b, "before");
	assert_err(file_read(at("five"), 4, &b, &e), ERR_TOO_BIG, &e);
	assert_string_equal(b.s, "before");
	assert_err(file_read("/dev/zero", 200000, &b, &e), ERR_TOO_BIG, &e);
	assert_string_equal(b.s, "before");
	assert_err(file_read(at("nothing"), 4, &b, &e), ERR_NOENT, &e);
	assert_true(file_read(dir, 4, &b, &e) < 0);
	assert_string_equal(b.s, "before");
	assert_ok(file_read(at("five"), 5, &b, &e), &e);
	assert_string_equal(b.s, "before12345");
	strbuf_done(&b);
}

static void folders_are_made_with_their_parents(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("a/b/c/"), 0755, &e), &e);
	assert_ok(file_mkdirs(at("a//b/./c"), 0755, &e), &e);
	assert_ok(file_mkdirs("/", 0755, &e), &e);
	assert_int_equal(access(at("a/b/c"), F_OK), 0);
	assert_err(file_mkdirs("", 0755, &e), ERR_NOENT, &e);
	put(at("a/file"), "x");
	assert_err(file_mkdirs(at("a/file"), 0755, &e), ERR_NOENT, &e);
	assert_err(file_mkdirs(at("a/file/x"), 0755, &e), ERR_NOENT, &e);
	assert_int_equal(symlink("nowhere", at("a/dangling")), 0);
	assert_true(file_mkdirs(at("a/dangling"), 0755, &e) < 0);
	assert_int_equal(symlink("b", at("a/good")), 0);
	assert_ok(file_mkdirs(at("a/good/d"), 0755, &e), &e);
}

static void removing_does_not_follow_links(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("out/keep"), 0755, &e), &e);
	assert_ok(file_mkdirs(at("rm/x/y"), 0755, &e), &e);
	put(at("out/keep/f"), "keep");
	put(at("rm/x/f"), "x");
	assert_int_equal(symlink(at("out"), at("rm/x/link")), 0);
	assert_int_equal(symlink("/", at("rm/root")), 0);
	assert_int_equal(mkfifo(at("rm/fifo"), 0600), 0);
	assert_ok(file_remove_tree(at("rm"), &e), &e);
	assert_int_equal(access(at("rm"), F_OK), -1);
	assert_content(at("out/keep/f"), "keep");
	assert_int_equal(symlink(at("out"), at("rm")), 0);
	assert_ok(file_remove_tree(at("rm"), &e), &e);
	assert_content(at("out/keep/f"), "keep");
	assert_ok(file_remove_tree(at("rm"), &e), &e);
	assert_ok(file_remove_tree(at("rm/deeper"), &e), &e);
}

/* A chain of folders deeper than the descriptors that one level each would need. */
static void make_deep(const char *top, int depth)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(fd, "d", 0755), 0);
		if (i % 100 == 0)
			assert_int_equal(mkdirat(fd, "e", 0755), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
}

static void removing_copes_with_any_depth(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("deep"), 0755, &e), &e);
	make_deep(at("deep"), 700);
	assert_ok(file_remove_tree(at("deep"), &e), &e);
	assert_int_equal(access(at("deep"), F_OK), -1);
}

static void removing_opens_closed_folders_of_its_own(void **state)
{
	int status = 0;
	pid_t pid;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_mkdirs(at("open"), 0777, &e), &e);
	assert_int_equal(chmod(at("open"), 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(2);
		if (mkdir(at("open/a"), 0755) < 0 || mkdir(at("open/a/b"), 0755) < 0 ||
		    file_write(at("open/a/b/f"), "x", 1, 0400, NULL) < 0 ||
		    chmod(at("open/a/b"), 0) < 0 || chmod(at("open/a"), 0500) < 0)
			_exit(3);
		_exit(file_remove_tree(at("open/a"), NULL) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(entries(at("open")), 0);
}

static void hashes_are_those_of_sha256(void **state)
{
	static const char abc[] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char empty[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct err e = { 0 };
	char hash[65];
	size_t size = 9;

	(void)state;
	file_sha256_hex("abc", 3, hash);
	assert_string_equal(hash, abc);
	file_sha256_hex("", 0, hash);
	assert_string_equal(hash, empty);
	put(at("abc"), "abc");
	assert_ok(file_sha256_path(at("abc"), hash, &size, &e), &e);
	assert_string_equal(hash, abc);
	assert_int_equal(size, 3);
	assert_int_equal(symlink("abc", at("abc.link")), 0);
	assert_true(file_sha256_path(at("abc.link"), hash, &size, &e) < 0);
	assert_true(file_sha256_path(dir, hash, &size, &e) < 0);
	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	assert_err(file_sha256_path(at("pipe"), hash, &size, &e), ERR_INVAL, &e);
	assert_err(file_sha256_path("/dev/null", hash, &size, &e), ERR_INVAL, &e);
}

static void copies_only_regular_files_up_to_the_limit(void **state)
{
	struct err e = { 0 };
	int before;

	(void)state;
	put(at("src"), "12345");
	put(at("dst"), "old");
	before = entries(dir);
	assert_err(file_copy(at("src"), at("dst"), 4, 0644, &e), ERR_TOO_BIG, &e);
	assert_content(at("dst"), "old");
	assert_err(file_copy(at("nothing"), at("dst"), 4, 0644, &e), ERR_NOENT, &e);
	assert_err(file_copy(at("src"), at("no/dst"), 9, 0644, &e), ERR_NOENT, &e);
	assert_int_equal(entries(dir), before);
	assert_int_equal(symlink("/etc/passwd", at("evil")), 0);
	assert_true(file_copy(at("evil"), at("dst"), 1 << 20, 0644, &e) < 0);
	assert_content(at("dst"), "old");
	assert_ok(file_copy(at("src"), at("dst"), 5, 0600, &e), &e);
	assert_content(at("dst"), "12345");
	assert_ok(file_copy(at("src"), at("src"), 5, 0600, &e), &e);
	assert_content(at("src"), "12345");
}

static void ids_are_valid_and_differ(void **state)
{
	static const char *const bad[] = { "",	       "r",	   "r7f3k2q",  "r7f3k2qaa",
					   "b7f3k2qa", "r7f3k2qi", "r7f3k2qA", "r7f3k2q/",
					   "r7f3k2ql", "r7f3k2qo", "r7f3k2qu", "R7f3k2qa" };
	char seen[200][9];
	char hex[129];

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		id_new('r', seen[i]);
		assert_true(id_valid('r', seen[i]));
		assert_false(id_valid('b', seen[i]));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(seen[i], seen[k]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(id_valid('r', bad[i]));
	random_hex(64, hex);
	assert_int_equal(strlen(hex), 128);
	assert_int_equal(strspn(hex, "0123456789abcdef"), 128);
	random_hex(0, hex);
	assert_string_equal(hex, "");
}

static void a_file_is_abandoned_once_nobody_writes_it(void **state)
{
	struct err e = { 0 };
	int fd;

	(void)state;
	assert_ok(file_write(at("left.abcdef"), "half", 4, 0600, &e), &e);
	assert_int_equal(symlink(at("left.abcdef"), at("to-left")), 0);
	assert_true(file_is_abandoned(at("left.abcdef"), 0));
	assert_false(file_is_abandoned(at("left.abcdef"), 1000));
	fd = open(at("left.abcdef"), O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_false(file_is_abandoned(at("left.abcdef"), 0));
	assert_int_equal(close(fd), 0);
	assert_true(file_is_abandoned(at("left.abcdef"), 0));
	assert_false(file_is_abandoned(at("to-left"), 0));
	assert_false(file_is_abandoned(dir, 0));
	assert_false(file_is_abandoned(at("none"), 0));
	assert_int_equal(unlink(at("to-left")) + unlink(at("left.abcdef")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_abandoned_once_nobody_writes_it),
		cmocka_unit_test(writes_with_the_wanted_mode_and_leaves_no_other_file),
		cmocka_unit_test(a_failed_write_keeps_the_old_file),
		cmocka_unit_test(a_write_that_hits_a_limit_leaves_old_content_and_no_rest),
		cmocka_unit_test(an_unwritable_folder_is_said),
		cmocka_unit_test(writing_replaces_a_link_and_not_what_it_points_to),
		cmocka_unit_test(reading_has_a_limit_and_leaves_the_buffer_on_failure),
		cmocka_unit_test(folders_are_made_with_their_parents),
		cmocka_unit_test(removing_does_not_follow_links),
		cmocka_unit_test(removing_copes_with_any_depth),
		cmocka_unit_test(removing_opens_closed_folders_of_its_own),
		cmocka_unit_test(hashes_are_those_of_sha256),
		cmocka_unit_test(copies_only_regular_files_up_to_the_limit),
		cmocka_unit_test(ids_are_valid_and_differ),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
