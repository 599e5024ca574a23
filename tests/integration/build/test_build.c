/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/build/build.h"
#include "bot/watch/mirror.h"
#include "bot/watch/revert.h"
#include "tests/integration/repo.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What build_run() needs of a kernel: three targets, O=, vmlinux, an image and a release. */
static const char makefile[] =
	"tinyconfig:\n"
	"\tprintf 'CONFIG_A=y\\n# CONFIG_B is not set\\n' >$(O)/.config\n"
	"olddefconfig:\n"
	"\tgrep -v GHOST $(O)/.config | sed '/^$$/d' | tac | awk -F'[= ]' "
	"'{ k = $$1 == \"#\" ? $$2 : $$1; if (!s[k]++) print }' | tac >$(O)/.new\n"
	"\tmv $(O)/.new $(O)/.config\n"
	"$(O)/%.o: %.c $(O)/.config\n"
	"\t$(CC) -c -o $@ $(CURDIR)/$<\n"
	"$(O)/vmlinux: $(O)/a.o $(O)/b.o\n"
	"\t$(CC) -nostdlib -static -Wl,--build-id -Wl,-e,main -o $@ $^\n"
	"bzImage: extra $(O)/vmlinux\n"
	"\tmkdir -p $(O)/arch/x86/boot $(O)/include/config\n"
	"\techo 6.99.0-test >$(O)/include/config/kernel.release\n"
	"\tcp $(O)/vmlinux $(O)/arch/x86/boot/bzImage\n"
	".PHONY: extra\n"
	"include extra.mk\n";

static struct build_request req;
static char *mirror;
static char *work;

static int setup(void **state)
{
	_cleanup_(freep) char *path = NULL;
	struct err e = { 0 };

	if (repo_setup(state) < 0)
		return -1;
	run("git init -q -b master r");
	path = xasprintf("%s/r/Makefile", repo_scratch);
	assert_ok(file_write(path, makefile, strlen(makefile), 0644, &e), &e);
	run("cd r; echo 'int b(void);int main(void){return b();}' >a.c; "
	    "echo 'int b(void){return 1;}' >b.c; echo 'extra:' >extra.mk; "
	    "git add -A; git commit -qm start");
	mirror = xasprintf("%s/r/.git", repo_scratch);
	work = xasprintf("%s/work", repo_scratch);
	req = (struct build_request){ .mirror = mirror,
				      .kconfig_base = "tinyconfig",
				      .work_dir = work,
				      .jobs = 1,
				      .timeout_s = 60 };
	return 0;
}

static int teardown(void **state)
{
	free(mirror);
	free(work);
	return repo_teardown(state);
}

static int try_build(struct build_result *ret, struct err *e)
{
	_cleanup_(freep) char *hash = sh("git -C r rev-parse HEAD");
	int r;

	*e = (struct err){ 0 };
	req.commit = hash;
	r = build_run(&req, ret, e);
	req.commit = NULL;
	return r;
}

static struct build_result build(enum build_end want)
{
	struct build_result r = { 0 };
	struct err e;

	assert_ok(try_build(&r, &e), &e);
	if (r.end != want)
		fail_msg("build ended %s (%s), not %s", build_end_name(r.end),
			 r.detail ? r.detail : "", build_end_name(want));
	return r;
}

static void build_only(enum build_end want)
{
	struct build_result r = build(want);

	build_result_done(&r);
}

static char *text_of(const char *path)
{
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_non_null(path);
	assert_ok(file_read(path, 1 << 20, &b, &e), &e);
	return strbuf_take(&b);
}

/* A commit whose target "extra" runs @line in the sandbox. */
static void commit_extra(const char *line)
{
	_cleanup_(freep) char *path = xasprintf("%s/r/extra.mk", repo_scratch);
	_cleanup_(freep) char *text = xasprintf("extra:\n\t%s\n", line);
	struct err e = { 0 };

	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
	run("cd r; git add extra.mk; git commit -qm extra");
}

static struct timespec mtime(const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", work, name);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mtim;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void builds_a_commit(void **state)
{
	struct build_result r = build(BUILD_OK);
	_cleanup_(freep) char *id = sh("readelf -n work/o/vmlinux | sed -n 's/.*Build ID: //p'");

	(void)state;
	assert_null(r.detail);
	assert_string_equal(r.build_id, id);
	assert_string_equal(r.kernel_release, "6.99.0-test");
	assert_int_equal(access(r.image, R_OK), 0);
	assert_int_equal(access(r.log, R_OK), 0);
	run("grep -qx CONFIG_A=y %s", r.config);
	build_result_done(&r);
}

static void a_variant_builds_with_other_flags(void **state)
{
	struct build_result r;
	struct err e;

	(void)state;
	commit_extra("echo flags \"'$(KCFLAGS)'\"");
	req.variant = "align64";
	r = build(BUILD_OK);
	run("grep -qx \"flags '-falign-functions=64'\" %s", r.log);
	run("grep -qF 'variant align64: KCFLAGS=-falign-functions=64' %s", r.log);
	build_result_done(&r);
	req.variant = "";
	r = build(BUILD_OK);
	run("grep -qx \"flags ''\" %s", r.log);
	build_result_done(&r);
	req.variant = "align65";
	assert_err(try_build(&r, &e), ERR_INVAL, &e);
	assert_non_null(strstr(e.msg, "no variant 'align65'"));
	req.variant = NULL;
}

static void an_aligned_kernel_for_size_is_built_for_speed(void **state)
{
	_cleanup_(freep) char *fragment = xasprintf("%s/size.config", repo_scratch);
	static const char size[] = "CONFIG_CC_OPTIMIZE_FOR_SIZE=y\n";
	const char *fragments[] = { fragment };
	struct build_result r;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_write(fragment, size, strlen(size), 0644, &e), &e);
	commit_extra("echo flags \"'$(KCFLAGS)'\"");
	req.fragments = fragments;
	req.n_fragments = 1;
	req.variant = "align64";
	r = build(BUILD_OK);
	run("grep -qx \"flags '-O2 -falign-functions=64'\" %s", r.log);
	build_result_done(&r);
	req.variant = NULL;
	r = build(BUILD_OK);
	run("grep -qx \"flags ''\" %s", r.log);
	build_result_done(&r);
	req.fragments = NULL;
	req.n_fragments = 0;
}

static void a_variant_without_effect_is_no_kernel(void **state)
{
	struct build_result r;

	(void)state;
	run("cd r; { cat a.c; for i in $(seq 60); do echo \"int f$i(int x){return x+$i;}\"; done; } "
	    ">c; mv c a.c; git commit -qam many");
	build_only(BUILD_OK);
	req.variant = "align64";
	r = build(BUILD_FAILED);
	assert_non_null(strstr(r.detail, "functions are not aligned, "));
	build_result_done(&r);
	run("cd r; sed -i 's/$(CC) -c/$(CC) -O2 $(KCFLAGS) -c/' Makefile; git commit -qam heeded");
	build_only(BUILD_OK);
	req.variant = NULL;
}

static void rebuilds_only_what_changed(void **state)
{
	struct timespec a;
	struct timespec b;
	struct timespec config;

	(void)state;
	build_only(BUILD_OK);
	a = mtime("o/a.o");
	b = mtime("o/b.o");
	config = mtime("o/.config");
	run("cd r; echo 'int b(void){return 2;}' >b.c; git commit -qam 'change b'");
	build_only(BUILD_OK);
	assert_true(same_time(a, mtime("o/a.o")));
	assert_false(same_time(b, mtime("o/b.o")));
	assert_true(same_time(config, mtime("o/.config")));
}

static void makes_equal_images_in_other_folders(void **state)
{
	struct build_result one = build(BUILD_OK);
	_cleanup_(freep) char *other = xasprintf("%s/other/work", repo_scratch);
	struct build_result two;

	(void)state;
	req.work_dir = other;
	two = build(BUILD_OK);
	assert_string_equal(one.build_id, two.build_id);
	run("cmp %s %s", one.image, two.image);
	build_result_done(&one);
	build_result_done(&two);
}

static void uses_the_compile_cache(void **state)
{
	_cleanup_(freep) char *cache = xasprintf("%s/cache", repo_scratch);
	_cleanup_(freep) char *hits = NULL;

	(void)state;
	req.ccache_dir = cache;
	req.ccache_size = "100M";
	build_only(BUILD_OK);
	assert_ok(file_remove_tree(work, NULL), (&(struct err){ 0 }));
	build_only(BUILD_OK);
	hits = sh("CCACHE_DIR=%s ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ "
		  "{ n += $2 } END { print n }'",
		  cache);
	assert_string_equal(hits, "2");
}

static void reports_the_error_of_the_compiler(void **state)
{
	struct build_result r;

	(void)state;
	run("cd r; echo 'int b(void){return x;}' >b.c; git commit -qam 'break b'");
	r = build(BUILD_FAILED);
	if (!strstr(r.detail, "b.c:1:") || !strstr(r.detail, ": error: "))
		fail_msg("%s", r.detail);
	assert_int_not_equal(r.detail[0], '/');
	assert_null(r.image);
	assert_string_equal(r.build_id, "");
	run("grep -q 'error: ' %s", r.log);
	build_result_done(&r);
	run("cd r; git revert -n HEAD; git commit -qm 'repair b'");
	build_only(BUILD_OK);
}

static void stops_a_build_that_takes_too_long(void **state)
{
	struct build_result r;

	(void)state;
	build_only(BUILD_OK);
	/* Half an object that looks up to date must not survive the kill. */
	commit_extra("echo junk >$(O)/a.o; (setsid sleep 98765 &) ; sleep 98765");
	req.timeout_s = 1.5;
	r = build(BUILD_TIMEOUT);
	assert_non_null(strstr(r.detail, "not done after"));
	build_result_done(&r);
	run("! pgrep -f '^sleep 98765'");
	req.timeout_s = 60;
	commit_extra("true");
	build_only(BUILD_OK);
}

static void stops_a_build_that_floods(void **state)
{
	struct build_result r;
	struct stat st;

	(void)state;
	commit_extra("yes");
	req.output_limit = 100000;
	r = build(BUILD_FLOOD);
	assert_non_null(strstr(r.detail, "100000"));
	assert_int_equal(stat(r.log, &st), 0);
	assert_in_range(st.st_size, 1, 300000);
	build_result_done(&r);
}

static void takes_no_image_but_a_regular_file(void **state)
{
	static const char *const tricks[] = {
		"mkdir -p $(O)/x; rm -rf $(O)/arch; ln -s /etc $(O)/arch",
		"mkdir -p $(O)/arch/x86/boot; rm -rf $(O)/arch/x86/boot; ln -s ../.. $(O)/arch/x86/boot",
	};
	struct build_result r;

	(void)state;
	run("cd r; sed -i 's|cp .*|ln -sf /etc/shadow $(O)/arch/x86/boot/bzImage|' Makefile; "
	    "git commit -qam shadow");
	r = build(BUILD_NO_IMAGE);
	assert_non_null(strstr(r.detail, "link"));
	assert_null(r.image);
	build_result_done(&r);
	for (size_t i = 0; i < ARRAY_SIZE(tricks); i++) {
		run("cd r; printf 'bzImage:\\n\\t%%s\\n' '%s' >>extra.mk; "
		    "sed -i '/^bzImage:/,$d' Makefile; echo 'include extra.mk' >>Makefile; "
		    "git commit -qam trick",
		    tricks[i]);
		build_only(BUILD_NO_IMAGE);
	}
	run("cd r; printf 'bzImage:\\n\\tmkdir -p $(O)/arch/x86/boot; mkfifo $(O)/arch/x86/boot/bzImage\\n' "
	    ">extra.mk; git commit -qam fifo");
	build_only(BUILD_NO_IMAGE);
	run("cd r; printf 'bzImage:\\n\\ttrue\\n' >extra.mk; git commit -qam nothing");
	build_only(BUILD_NO_IMAGE);
}

static void shows_nothing_of_the_host(void **state)
{
	static const char *const lines[] = {
		"! cat /etc/passwd",
		"! cat /etc/shadow",
		"! ls /home /root",
		"! cat %s/secret",
		"! touch /src/x",
		"! touch $(CURDIR)/Makefile",
		"! touch /usr/x",
		"! touch /in/x",
		"! touch /x",
		"! kill -0 %d",
		"test $$(grep -c : /proc/net/dev) = 1",
		"test $$(id -u) != 0",
		"grep -q 'CapEff:.0*$$' /proc/self/status",
		"test -z \"$$KPERFBOT_SECRET\"",
		"! unshare -m true",
		"! unshare -U true",
		"! mount -t tmpfs x /tmp",
		"! test -w /proc/sys/kernel/core_pattern",
		"! mknod /o/sda b 8 0",
	};

	(void)state;
	run("echo secret >secret; chmod 644 secret");
	assert_int_equal(setenv("KPERFBOT_SECRET", "x", 1), 0); /* NOLINT(concurrency-mt-unsafe) */
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *fmt = lines[i];
		_cleanup_(freep) char *line = NULL;
		struct build_result r = { 0 };
		struct err e;

		if (strstr(fmt, "%s"))
			line = xasprintf("! cat %s/secret", repo_scratch);
		else if (strstr(fmt, "%d"))
			line = xasprintf("! kill -0 %d", getpid());
		else
			line = xstrdup(fmt);
		commit_extra(line);
		assert_ok(try_build(&r, &e), &e);
		if (r.end != BUILD_OK)
			fail_msg("'%s' in the sandbox: %s", line, r.detail);
		build_result_done(&r);
	}
}

static void does_not_blame_a_commit_for_the_leftovers_of_another(void **state)
{
	(void)state;
	commit_extra("rm -rf $(O)/arch; ln -s /usr $(O)/arch; mkdir $(O)/vmlinux");
	build_only(BUILD_FAILED);
	commit_extra("true");
	build_only(BUILD_OK);
}

static void checks_out_the_bytes_of_the_commit(void **state)
{
	(void)state;
	run("cd r; printf 'one\\n$Id$\\n' >f.txt; echo u >f.u; git add -A; git commit -qm files; "
	    "printf '*.txt text eol=crlf ident\\n*.u working-tree-encoding=UTF-16\\n* filter=x\\n' "
	    ">.gitattributes; git add .gitattributes; git commit -qm attributes");
	commit_extra("printf 'one\\n$$Id$$\\n' | cmp - f.txt && echo u | cmp - f.u");
	build_only(BUILD_OK);
}

static void repairs_a_damaged_work_tree(void **state)
{
	(void)state;
	build_only(BUILD_OK);
	run("echo 'int b(void){return x;}' >work/src/b.c");
	build_only(BUILD_OK);
	run("echo junk >work/index");
	build_only(BUILD_OK);
	run("rm work/src/a.c; touch work/index.lock");
	build_only(BUILD_OK);
	/* A checkout that was killed: a file of another commit is still there. */
	run("touch work/checking-out; echo 'extra: ; false' >work/src/GNUmakefile");
	build_only(BUILD_OK);
}

static void merges_fragments_and_warns(void **state)
{
	_cleanup_(freep) char *one = xasprintf("%s/one", repo_scratch);
	_cleanup_(freep) char *two = xasprintf("%s/two", repo_scratch);
	const char *fragments[] = { one, two };
	struct build_result r;

	(void)state;
	run("echo CONFIG_B=y >one; printf 'CONFIG_A=m\\nCONFIG_GHOST=y' >two");
	req.fragments = fragments;
	req.n_fragments = 2;
	r = build(BUILD_OK);
	run("grep -qx CONFIG_B=y %s; grep -qx CONFIG_A=m %s", r.config, r.config);
	assert_int_equal(r.n_warnings, 1);
	assert_string_equal(r.warnings[0], "'CONFIG_GHOST=y' did not take effect");
	build_result_done(&r);
	/* Another recipe in the same folder. */
	req.n_fragments = 1;
	r = build(BUILD_OK);
	run("grep -qx CONFIG_A=y %s", r.config);
	build_result_done(&r);
}

static void takes_a_config_file_as_base(void **state)
{
	_cleanup_(freep) char *base = xasprintf("%s/base", repo_scratch);
	struct build_result r;

	(void)state;
	run("echo CONFIG_Z=y >base");
	req.kconfig_base = base;
	r = build(BUILD_OK);
	run("grep -qx CONFIG_Z=y %s", r.config);
	build_result_done(&r);
}

static void blames_the_commit_for_its_kconfig(void **state)
{
	struct build_result r;

	(void)state;
	run("cd r; sed -i 's/^olddefconfig:.*/olddefconfig: nosuch/' Makefile; git commit -qam kconfig");
	r = build(BUILD_KCONFIG);
	assert_non_null(strstr(r.detail, "nosuch"));
	build_result_done(&r);
	run("cd r; printf 'tinyconfig:\\n\\tln -s /etc/shadow $(O)/.config\\nolddefconfig:\\n' >Makefile; "
	    "git commit -qam link");
	build_only(BUILD_KCONFIG);
}

static void works_with_relative_paths(void **state)
{
	(void)state;
	assert_int_equal(chdir(repo_scratch), 0);
	req.work_dir = "work";
	req.mirror = "r/.git";
	req.ccache_dir = "cache";
	build_only(BUILD_OK);
	assert_int_equal(chdir("/"), 0);
}

static void refuses_a_cache_of_someone_else(void **state)
{
	_cleanup_(freep) char *cache = xasprintf("%s/cache", repo_scratch);
	struct build_result r;
	struct err e;

	(void)state;
	run("mkdir cache; touch cache/keep");
	req.ccache_dir = cache;
	/* As an unprivileged user everything here is ours. */
	if (geteuid() == 0)
		assert_err(try_build(&r, &e), ERR_PERM, &e);
	else
		build_only(BUILD_OK);
	run("test -e cache/keep");
}

static void refuses_a_work_folder_in_use(void **state)
{
	struct build_result r;
	struct err e;

	(void)state;
	build_only(BUILD_OK);
	{
		_cleanup_(freep) char *path = xasprintf("%s/lock", work);
		_cleanup_(closep) int lock = open(path, O_RDWR | O_CLOEXEC);

		assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
		assert_err(try_build(&r, &e), ERR_CONFLICT, &e);
	}
	build_only(BUILD_OK);
}

static bool running(const char *what)
{
	_cleanup_(freep) char *n = sh("pgrep -fc '^%s' || true", what);

	return strcmp(n, "0") != 0;
}

static void leaves_nothing_running_when_it_is_killed(void **state)
{
	struct build_result r;
	struct err e;
	int turns = 0;
	pid_t pid;

	(void)state;
	commit_extra("(setsid sleep 98766 &) ; sleep 98766");
	pid = fork();
	if (pid == 0) {
		(void)try_build(&r, &e);
		_exit(0);
	}
	while (!running("sleep 98766") && turns++ < 500)
		(void)usleep(20000);
	assert_true(running("sleep 98766"));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	turns = 0;
	while (running("sleep 98766") && turns++ < 500)
		(void)usleep(20000);
	assert_false(running("sleep 98766"));
	/* And the folder is of use again. */
	commit_extra("true");
	build_only(BUILD_OK);
}

static void keeps_our_own_faults_apart(void **state)
{
	_cleanup_(freep) char *nowhere = xasprintf("%s/nosuch", repo_scratch);
	struct build_result r;
	struct err e;

	(void)state;
	req.kconfig_base = nowhere;
	assert_err(try_build(&r, &e), ERR_NOENT, &e);
	assert_non_null(strstr(e.msg, nowhere));
	req.kconfig_base = "nosuch";
	assert_err(try_build(&r, &e), ERR_INVAL, &e);
	req.kconfig_base = "tinyconfig";
	req.image = "../../etc/passwd";
	assert_err(try_build(&r, &e), ERR_INVAL, &e);
	req.image = NULL;
	req.mirror = nowhere;
	assert_err(try_build(&r, &e), ERR_NOENT, &e);
	req.mirror = mirror;
	req.commit = "0123456789012345678901234567890123456789";
	assert_err(build_run(&req, &r, &e), ERR_NOENT, &e);
	req.commit = "HEAD";
	assert_err(build_run(&req, &r, &e), ERR_INVAL, &e);
}

static void lists_objects_that_a_comment_does_not_change(void **state)
{
	struct build_result r = build(BUILD_OK);
	_cleanup_(freep) char *first = text_of(r.objects);
	_cleanup_(freep) char *deps = text_of(r.deps);
	_cleanup_(freep) char *second = NULL;
	_cleanup_(freep) char *third = NULL;

	(void)state;
	assert_memory_equal(first, "a.o ", 4);
	assert_non_null(strstr(first, "\nb.o "));
	assert_string_equal(deps, "");
	build_result_done(&r);
	run("cd r; sed -i '1i/* why */' b.c; git commit -qam comment");
	r = build(BUILD_OK);
	second = text_of(r.objects);
	assert_string_equal(first, second);
	build_result_done(&r);
	run("cd r; sed -i 's/return 1/return 2/' b.c; git commit -qam code");
	r = build(BUILD_OK);
	third = text_of(r.objects);
	assert_string_not_equal(first, third);
	build_result_done(&r);
}

static void builds_a_revert_like_any_commit(void **state)
{
	_cleanup_(freep) char *start = NULL;
	_cleanup_(freep) char *bad = NULL;
	_cleanup_(freep) char *again = NULL;
	_cleanup_(freep) char *objects = NULL;
	struct build_result r = build(BUILD_OK);
	struct mirror *m;
	struct revert v;
	struct err e = { 0 };

	(void)state;
	objects = text_of(r.objects);
	build_result_done(&r);
	run("cd r; sed -i 's/return 1/return 2/' b.c; git commit -qam code; echo x >x; git add x; "
	    "git commit -qm more");
	start = sh("git -C r rev-parse HEAD");
	bad = sh("git -C r rev-parse HEAD~");
	assert_ok(mirror_open(mirror, &m, &e), &e);
	assert_ok(mirror_revert(m, bad, start, "host.example.org", &v, &e), &e);
	mirror_free(m);
	assert_int_equal(v.end, REVERT_DONE);
	req.commit = v.hash;
	assert_ok(build_run(&req, &r, &e), &e);
	req.commit = NULL;
	revert_done(&v);
	assert_int_equal(r.end, BUILD_OK);
	again = text_of(r.objects);
	assert_string_equal(objects, again);
	build_result_done(&r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(builds_a_commit),
		T(a_variant_builds_with_other_flags),
		T(an_aligned_kernel_for_size_is_built_for_speed),
		T(a_variant_without_effect_is_no_kernel),
		T(rebuilds_only_what_changed),
		T(makes_equal_images_in_other_folders),
		T(lists_objects_that_a_comment_does_not_change),
		T(builds_a_revert_like_any_commit),
		T(uses_the_compile_cache),
		T(reports_the_error_of_the_compiler),
		T(stops_a_build_that_takes_too_long),
		T(stops_a_build_that_floods),
		T(takes_no_image_but_a_regular_file),
		T(shows_nothing_of_the_host),
		T(does_not_blame_a_commit_for_the_leftovers_of_another),
		T(checks_out_the_bytes_of_the_commit),
		T(repairs_a_damaged_work_tree),
		T(merges_fragments_and_warns),
		T(takes_a_config_file_as_base),
		T(blames_the_commit_for_its_kconfig),
		T(works_with_relative_paths),
		T(refuses_a_cache_of_someone_else),
		T(refuses_a_work_folder_in_use),
		T(leaves_nothing_running_when_it_is_killed),
		T(keeps_our_own_faults_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
