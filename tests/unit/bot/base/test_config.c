/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/kperfbot-config-XXXXXX";
static char *path;

static int make_dir(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/main.conf", dir);
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	free(path);
	return file_remove_tree(dir, NULL);
}

static void put(const char *name, const void *data, size_t len)
{
	char *p = xasprintf("%s/%s", dir, name);
	struct err e = { 0 };

	assert_ok(file_write(p, data, len, 0644, &e), &e);
	free(p);
}

static struct config *load(const char *text)
{
	struct config *c = NULL;
	struct err e = { 0 };

	put("main.conf", text, strlen(text));
	assert_ok(config_load(path, &c, &e), &e);
	return c;
}

/* The file is refused with one line that has the words @a and @b. */
static void refused_bytes(const char *text, size_t len, const char *a, const char *b)
{
	struct config *c = NULL;
	struct err e = { 0 };

	put("main.conf", text, len);
	assert_err(config_load(path, &c, &e), ERR_CONFIG, &e);
	assert_int_equal(e.code, ERR_CONFIG);
	assert_null(c);
	if (!strstr(e.msg, a) || !strstr(e.msg, b))
		fail_msg("'%s' names neither '%s' nor '%s'", e.msg, a, b);
	assert_null(strchr(e.msg, '\n'));
}

static void refused(const char *text, const char *a, const char *b)
{
	refused_bytes(text, strlen(text), a, b);
}

static void an_empty_file_gives_the_defaults(void **state)
{
	struct config *c = load("");

	(void)state;
	assert_string_equal(config_str(c, "kperfbot", NULL, "state"), "/var/lib/kperfbot");
	assert_null(config_str(c, "kperfbot", NULL, "database"));
	assert_true(config_f64(c, "kperfbot", NULL, "lease") == 60);
	assert_int_equal(config_i64(c, "build", NULL, "output-limit"), 64 << 20);
	assert_int_equal(config_i64(c, "build", NULL, "jobs"), 0);
	assert_near(config_f64(c, "detect", NULL, "target-effect"), 0.038, 1e-12);
	assert_false(config_has(c, "tree", "x"));
	config_free(c);
	config_free(NULL);
}

static void every_default_is_a_value_that_would_be_accepted(void **state)
{
	size_t n;
	const struct config_key *k = config_keys(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		char *text;

		if (!k[i].fallback || k[i].type == CONFIG_REF)
			continue;
		text = xasprintf("[tree \"t\"]\nurl = u\n[machine \"m\"]\ndriver = local\n"
				 "[job \"j\"]\ngroup = m\nsuite = s\ntest = t\n[%s%s]\n%s = %s\n",
				 k[i].section,
				 !k[i].named			    ? ""
				 : !strcmp(k[i].section, "tree")    ? " \"t\""
				 : !strcmp(k[i].section, "machine") ? " \"m\""
				 : !strcmp(k[i].section, "job")	    ? " \"j\""
								    : " \"x\"",
				 k[i].key, k[i].fallback);
		config_free(load(text));
		free(text);
	}
}

static void unknown_words_are_refused_with_the_choices(void **state)
{
	(void)state;
	refused("[kperfbott]\nstate = /x\n", "unknown section 'kperfbott'", "kperfbot, web, mail");
	refused("[kperfbot]\nstat = /x\n", "unknown key 'stat'", "state, database");
	refused("[tree \"x\"]\nurll = y\n", "unknown key 'urll'", "url, branch");
	refused("[mail]\ntls = maybe\n", "'maybe' is not one of", "required|off");
	refused("[mail]\ntls = required|off\n", "is not one of", "required|off");
	refused("[mail]\ntls = of\n", "'of' is not one of", "required|off");
	refused("[mail]\ntls = REQUIRED\n", "'REQUIRED' is not one of", "required|off");
	refused("[machine \"m\"]\ndriver = telnet\n", "machine.m.driver", "qemu|netboot|ssh|local");
}

static void values_of_the_wrong_kind_are_refused(void **state)
{
	(void)state;
	refused("[kperfbot]\nlease = 60 seconds\n", "kperfbot.lease", "'60 seconds' is not a time");
	refused("[kperfbot]\nlease = 0.5s\n", "'0.5s'", "between 1s and 1h");
	refused("[kperfbot]\nlease = -5\n", "kperfbot.lease", "'-5'");
	refused("[build]\njobs = 0\n", "'0'", "between 1 and 1024");
	refused("[build]\njobs = many\n", "'many'", "not a whole number");
	refused("[build]\njobs = 99999999999999999999\n", "build.jobs", "between");
	refused("[build]\noutput-limit = 10X\n", "'10X'", "512M");
	refused("[build]\noutput-limit = 9e99\n", "build.output-limit", "9e99");
	refused("[tree \"t\"]\nurl = u\nallow-file = maybe\n", "tree.t.allow-file",
		"true or false");
	refused("[detect]\nlevel = 50%\n", "detect.level", "between");
	refused("[detect]\nlevel = x%\n", "detect.level", "3.8%");
	refused("[kperfbot]\nstate =\n", "kperfbot.state", "empty value");
	refused("[kperfbot]\nstate\n", "kperfbot.state", "no value");
	refused("[kperfbot]\nurl = \"a\\nb\"\n", "kperfbot.url", "control character");
	refused("[kperfbot]\nurl = a\xff"
		"b\n",
		"kperfbot.url", "UTF-8");
}

static void sections_need_a_name_where_they_have_one(void **state)
{
	(void)state;
	refused("[tree]\nurl = x\n", "[tree \"NAME\"]", "not [tree]");
	refused("[kperfbot \"x\"]\nstate = /x\n", "[kperfbot]", "not [kperfbot \"x\"]");
	refused("[tree \"a/b\"]\nurl = x\n", "[tree \"NAME\"]", "a/b");
	refused("[tree \"..\"]\nurl = x\n", "[tree \"NAME\"]", "..");
	refused("[tree \"a b\"]\nurl = x\n", "[tree \"NAME\"]", "a b");
	refused("[tree \"\"]\nurl = x\n", "tree", "NAME");
	refused("state = /x\n", "main.conf", "");
}

static void needed_keys_and_references_are_checked(void **state)
{
	(void)state;
	refused("[tree \"x\"]\nbranch = y\n", "[tree \"x\"] has no 'url'", "main.conf");
	refused("[machine \"m\"]\ncpus = 2\n", "[machine \"m\"] has no 'driver'", "");
	refused("[job \"j\"]\ngroup = g\nsuite = s\n", "[job \"j\"] has no 'test'", "");
	refused("[job \"j\"]\ngroup = g\nsuite = s\ntest = t\ntree = nope\n", "job.j.tree",
		"there is no [tree \"nope\"]");
	refused("[job \"j\"]\ngroup = g\nsuite = s\ntest = t\nkconfig = nope\n", "job.j.kconfig",
		"there is no [kconfig \"nope\"]");
}

static void what_is_no_git_config_is_refused(void **state)
{
	char *big;

	(void)state;
	refused("[kperfbot\nstate = /x\n", "main.conf", "");
	refused("[kperfbot]\nurl = a\\qb\n", "main.conf", "");
	refused("[kperfbot]\n= x\n", "main.conf", "");
	refused("\x01\x02\x03", "main.conf", "");
	refused_bytes("[kperfbot]\nurl = a\0b\nstat = x\n", 31, "main.conf", "NUL");
	refused_bytes("[kperfbot]\n\0\nnonsense = x\n", 26, "main.conf", "NUL");
	big = xcalloc(1, 6 << 20);
	memset(big, '#', 6 << 20);
	refused_bytes(big, 6 << 20, "main.conf", "bytes");
	memset(big, 'a', 10000);
	memcpy(big, "[kperfbot]\nurl = ", 17); /* NOLINT(bugprone-not-null-terminated-result) */
	refused_bytes(big, 10000, "kperfbot.url", "more than");
	free(big);
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	struct config *c = NULL;
	struct err e = { 0 };

	(void)state;
	assert_err(config_load("/nonexistent/kperfbot.conf", &c, &e), ERR_CONFIG, &e);
	assert_non_null(strstr(e.msg, "/nonexistent/kperfbot.conf"));
	assert_non_null(strstr(e.msg, "No such file"));
	assert_err(config_load(dir, &c, &e), ERR_CONFIG, &e);
	assert_non_null(strstr(e.msg, dir));
	assert_null(c);
}

static void files_can_include_others(void **state)
{
	static const char inner[] = "[tree \"b\"]\nurl = inner\n[kperfbot]\npoll = 7s\n";
	struct config *c;

	(void)state;
	put("inner.conf", inner, strlen(inner));
	c = load("[tree \"a\"]\nurl = outer\n[include]\npath = inner.conf\n");
	assert_string_equal(config_str(c, "tree", "b", "url"), "inner");
	assert_string_equal(config_str(c, "tree", "a", "url"), "outer");
	assert_true(config_f64(c, "kperfbot", NULL, "poll") == 7);
	config_free(c);
	put("inner.conf", "[tree]\nx = y\n", 13);
	refused("[include]\npath = inner.conf\n", "[tree \"NAME\"]", "");
	put("inner.conf", "[include]\npath = inner.conf\n", 27);
	refused("[include]\npath = inner.conf\n", "main.conf", "");
	refused("[include]\npath = missing.conf\n", "missing.conf", "main.conf");
	refused("[includeIf \"gitdir:/\"]\npath = inner.conf\n", "includeif", "");
}

static void relative_paths_belong_to_the_folder_of_the_file(void **state)
{
	struct config *c = load("[kperfbot]\nstate = var/x\nprograms = /opt/p\n"
				"[kconfig \"k\"]\nfragment = a.config\nfragment = /b.config\n");
	char *want = xasprintf("%s/var/x", dir);
	const char **all = config_all(c, "kconfig", "k", "fragment");

	(void)state;
	assert_string_equal(config_str(c, "kperfbot", NULL, "state"), want);
	assert_string_equal(config_str(c, "kperfbot", NULL, "programs"), "/opt/p");
	free(want);
	want = xasprintf("%s/a.config", dir);
	assert_string_equal(all[0], want);
	assert_string_equal(all[1], "/b.config");
	assert_null(all[2]);
	free(all);
	free(want);
	config_free(c);
}

static void repeated_keys_keep_their_order_and_the_last_one_counts(void **state)
{
	struct config *c = load("[tree \"z\"]\nurl = 1\nbranch = a\n[tree \"A\"]\nurl = x\n"
				"[tree \"z\"]\nurl = 2\nbranch = b*\n[TREE \"m.n\"]\nURL = y\n");
	const char **names = config_names(c, "tree");
	const char **all = config_all(c, "tree", "z", "branch");

	(void)state;
	assert_string_equal(config_str(c, "tree", "z", "url"), "2");
	assert_string_equal(config_str(c, "tree", "m.n", "url"), "y");
	assert_string_equal(names[0], "z");
	assert_string_equal(names[1], "A");
	assert_string_equal(names[2], "m.n");
	assert_null(names[3]);
	assert_string_equal(all[0], "a");
	assert_string_equal(all[1], "b*");
	assert_null(all[2]);
	free(names);
	free(all);
	all = config_all(c, "tree", "A", "branch");
	assert_string_equal(all[0], "master");
	assert_null(all[1]);
	free(all);
	config_free(c);
}

static void what_is_shown_reads_back_the_same(void **state)
{
	struct config *c = load(
		"[kperfbot]\nstate = \"/a b;c#d\"\nurl = \"http://x/#y\"\n"
		"[mail]\noperator = \"\\\"A; B\\\" <a@example.org>\"\nstop = a@example.org\n"
		"stop = b@example.org\n[tree \"t.x\"]\nurl = \"  lead and trail \"\nallow-file = yes\n"
		"[machine \"m\"]\ndriver = qemu\nappend = \"a=\\\"b c\\\" d\\\\e\"\n");
	struct strbuf a = STRBUF_INIT;
	struct strbuf b = STRBUF_INIT;
	struct config *again;

	(void)state;
	config_show(c, &a);
	again = load(strbuf_str(&a));
	config_show(again, &b);
	assert_string_equal(strbuf_str(&a), strbuf_str(&b));
	assert_string_equal(config_str(again, "kperfbot", NULL, "state"), "/a b;c#d");
	assert_string_equal(config_str(again, "tree", "t.x", "url"), "  lead and trail ");
	assert_string_equal(config_str(again, "machine", "m", "append"), "a=\"b c\" d\\e");
	assert_string_equal(config_str(again, "mail", NULL, "operator"),
			    "\"A; B\" <a@example.org>");
	strbuf_done(&a);
	strbuf_done(&b);
	config_free(c);
	config_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_file_gives_the_defaults),
		cmocka_unit_test(every_default_is_a_value_that_would_be_accepted),
		cmocka_unit_test(unknown_words_are_refused_with_the_choices),
		cmocka_unit_test(values_of_the_wrong_kind_are_refused),
		cmocka_unit_test(sections_need_a_name_where_they_have_one),
		cmocka_unit_test(needed_keys_and_references_are_checked),
		cmocka_unit_test(what_is_no_git_config_is_refused),
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
		cmocka_unit_test(files_can_include_others),
		cmocka_unit_test(relative_paths_belong_to_the_folder_of_the_file),
		cmocka_unit_test(repeated_keys_keep_their_order_and_the_last_one_counts),
		cmocka_unit_test(what_is_shown_reads_back_the_same),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
