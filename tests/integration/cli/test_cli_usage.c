/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kperfbot says to people who do not know it yet: help, wrong usage, a wrong configuration. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kperfbot-cli-XXXXXX";
static struct strbuf out;

/* Runs kperfbot with @words in @folder; @out is what the shell words leave on stdout. */
static int run(const char *words)
{
	_cleanup_(freep) char *line =
		xasprintf("cd %s && '" TEST_BIN_DIR "/kperfbot' %s", folder, words);
	FILE *f = popen(line, "re"); /* NOLINT(cert-env33-c): our own words */
	char buf[4096];
	int status;
	size_t n;

	strbuf_reset(&out);
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(&out, buf, n);
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void says(const char *text)
{
	if (!strstr(strbuf_str(&out), text))
		fail_msg("'%s' is not in: %s", text, strbuf_str(&out));
}

static void put(const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	(void)fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The one line that `config check` prints about @text. */
static void check_says(const char *text, const char *want)
{
	put("k.conf", text);
	assert_int_equal(run("-C k.conf config check 2>&1"), 128);
	says(want);
	assert_ptr_equal(strchr(strbuf_str(&out), '\n'), out.s + out.len - 1);
}

static void every_command_has_help_on_stdout(void **state)
{
	static const char *const commands[] = {
		"config",	 "trailers",	 "compose",
		"judge",	 "parse",	 "db",
		"range",	 "bisect",	 "status",
		"list",		 "show",	 "token",
		"report",	 "bisect start", "bisect simulate",
		"bisect status", "bisect watch", "bisect replay",
		"bisect plan",	 "bisect log",	 "bisect extend",
		"bisect cancel", "bisect retry", "power",
		"changes",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		_cleanup_(freep) char *usage = xasprintf("usage: kperfbot %s ", commands[i]);
		_cleanup_(freep) char *longer = xasprintf("%s --help 2>/dev/null", commands[i]);
		_cleanup_(freep) char *shorter = xasprintf("%s -h 2>/dev/null", commands[i]);

		assert_int_equal(run(longer), 0);
		says(usage);
		assert_int_equal(run(shorter), 0);
		says(usage);
	}
	assert_int_equal(run("trailers -- --help 2>&1"), 128);
	says("could not open '--help'");
}

static void a_wrong_option_is_named(void **state)
{
	(void)state;
	assert_int_equal(run("range a b --wat 2>&1"), 129);
	says("kperfbot range: unknown option '--wat'\nusage: kperfbot range ");
	assert_int_equal(run("judge -x 2>&1"), 129);
	says("kperfbot judge: unknown option '-x'");
	assert_int_equal(run("parse --param 2>&1"), 129);
	says("kperfbot parse: option '--param' needs a value");
	assert_int_equal(run("list --json=3 2>&1"), 129);
	says("kperfbot list: option '--json' takes no value");
	assert_int_equal(run("--color=blue status 2>&1"), 129);
	says("--color is 'blue', want auto, always or never");
	assert_int_equal(run("judge - - 2>&1 </dev/null"), 129);
	says("standard input can be read only once");
	assert_int_equal(run("judge a b --min-effect -1 2>&1"), 129);
	says("least effect -1 must be 0 or more, and less than 1");
}

/* Each with the bad value and what would be right, before anything is opened. */
static void a_wrong_value_is_named(void **state)
{
	static const struct {
		const char *words, *want;
	} cases[] = {
		{ "bisect start --max-runs 3", "--max-runs: '3' is not between 4 and 1000000" },
		{ "bisect plan --min-effect 0", "--min-effect: '0' is not between 0.01% and 100%" },
		{ "bisect start --path \"$(printf '\\377')\"", "--path: not UTF-8" },
		{ "bisect extend --runs x b2222222", "--runs: 'x' is not a whole number" },
		{ "bisect extend --why x b2222222", "unknown option '--why'" },
		{ "bisect retry --runs 3 b2222222", "unknown option '--runs'" },
		{ "bisect simulate --linear 9 --cost build=x",
		  "--cost: build: 'x' is not a number" },
		{ "bisect simulate --linear 9 --cost home=1", "'home' is no cost, must be build=" },
		{ "bisect simulate --strategy plain:0", "--strategy: '0' is not between 1 and" },
		{ "bisect replay --wrong 0.6 x", "--wrong: '0.6' is more than a half" },
		{ "bisect replay --top -1 x", "--top: '-1' is not between 0 and 100" },
		{ "changes --better x y", "--better: 'x' is none of higher, lower, none" },
		{ "changes --min-effect 0 y", "--min-effect: '0' is not above 0" },
		{ "judge --looks 3,x a b", "--looks: 'x' is not a whole number" },
		{ "parse will-it-scale x --param y", "--param: 'y' is not KEY=VALUE" },
		{ "monitors --span x", "--span: 'x'" },
		{ "list -n 501", "--limit: '501' is not between 1 and 500" },
		{ "token add x --days 0", "--days: '0' is not between 1 and 36500" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *words = xasprintf("%s 2>&1", cases[i].words);

		if (run(words) != 129)
			fail_msg("%s: %s", words, strbuf_str(&out));
		says(cases[i].want);
	}
}

static void global_options_count_behind_every_command(void **state)
{
	static const char *const lines[] = { "suites list",   "workloads list",
					     "monitors list", "power --noise 1% --runs 6",
					     "config man",    "trailers /dev/null" };

	(void)state;
	assert_int_equal(run("report --color=blue r7f3k2qa 2>&1"), 129);
	says("--color: 'blue'");
	assert_int_equal(run("db status --wat 2>&1"), 129);
	says("unknown option '--wat'");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(freep) char *good = xasprintf("%s -qv --color=never", lines[i]);
		_cleanup_(freep) char *bad = xasprintf("%s --color=blue 2>&1", lines[i]);

		assert_int_equal(run(good), 0);
		assert_int_equal(run(bad), 129);
		says("--color: 'blue' is none of auto, always, never");
	}
}

static void wrong_usage_is_a_problem_object_with_json(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run("--json range a 2>/dev/null"), 129);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "code", ""), "USAGE");
	assert_string_equal(json_str(j, "detail", ""), "want a good and a bad commit, got 1 names");
	assert_int_equal(run("--json trailers nothing-there 2>/dev/null"), 128);
	says("\"detail\":\"could not open 'nothing-there'");
}

static void json_after_the_wrong_word_counts_as_well(void **state)
{
	static const char *const lines[] = { "range a b --wat --json 2>/dev/null",
					     "bisect simulate --linear 0 --json 2>/dev/null",
					     "power --noise x --json 2>/dev/null" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(json_decrefp) json_t *j = NULL;
		struct err e = { 0 };

		assert_int_equal(run(lines[i]), 129);
		assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
		assert_string_equal(json_str(j, "code", ""), "USAGE");
	}
	/* A name that looks like it is a name. */
	assert_int_equal(run("range -- a b --json 2>/dev/null"), 129);
	assert_int_equal(out.len, 0);
}

/* Also where it is more than what the C library keeps for later. */
static void an_output_that_was_cut_is_fatal(void **state)
{
	(void)state;
	assert_int_equal(run("power --noise 1% --runs 6 2>&1 >/dev/full"), 128);
	says("kperfbot power: could not write all of the output");
	assert_int_equal(run("power --noise 1% --runs 6 2>&1 >&-"), 128);
	assert_int_equal(run("config man 2>&1 >/dev/full"), 128);
	says("could not write all of the output");
	assert_int_equal(run("power --noise 1% --runs 6 2>&1 >/dev/null"), 0);
}

static void config_check_names_what_the_roles_would_refuse(void **state)
{
	(void)state;
	check_says("[web]\n\tlisten = 127.0.0.1:99999\n",
		   "k.conf: web.listen: '127.0.0.1:99999' is not an address and port such as");
	check_says("[mail]\n\tserver = http://mail.example.org\n",
		   "mail.server: mail server 'http://mail.example.org' is neither smtp:// nor");
	check_says("[mail]\n\toperator = nobody\n",
		   "mail.operator: mail address 'nobody' has no @");
	check_says("[mail]\n\thost = a b\n", "mail.host: 'a b' is not a host name");
	check_says("[tree \"a\"]\n\turl = ftp://git.example.org/x\n",
		   "tree.a.url: url 'ftp://git.example.org/x' is not https://");
	check_says("[tree \"a\"]\n\turl = /nowhere\n", "allow-file = true");
	check_says("[tree \"a\"]\n\turl = https://git.example.org/x\n\tmail = operator\n",
		   "tree.a.mail: 'operator' needs operator = ADDRESS in [mail]");
	check_says("[tree \"a\"]\n\turl = https://git.example.org/x\n\tlist = x\n",
		   "tree.a.list: mail address 'x'");
	check_says("[tree \"a b\"]\n\turl = https://git.example.org/x\n",
		   "not [tree \"a b\"]; a name is up to 64 letters");
	check_says("[kconfig \"k\"]\n\tbase = nothing\n", "kconfig.k.base: kconfig base 'nothing'");
	check_says("[kconfig \"k\"]\n\tbase = /nowhere/config\n",
		   "kconfig.k.base: kconfig file: could not open '/nowhere/config'");
	check_says("[kconfig \"k\"]\n\tfragment = gone.config\n", "gone.config'");
	check_says("[job \"j\"]\n\tsuite = will-it-scale\n\ttest = nope\n\tgroup = m\n",
		   "job.j: will-it-scale has no test 'nope'");
	put("k.conf", "[mail]\n\toperator = lab@example.org\n\tserver = smtp://mail.example.org\n");
	assert_int_equal(run("config check k.conf"), 0);
	says("k.conf: good\n");
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/k.conf", folder);

	(void)state;
	strbuf_done(&out);
	(void)unlink(path);
	return rmdir(folder);
}

static void config_check_wants_what_a_netboot_machine_needs(void **state)
{
	static const char head[] = "[machine \"n\"]\n\tdriver = netboot\n";
	static const struct {
		const char *keys, *want;
	} cases[] = {
		{ "power-on = a\n\tpower-off = b\n",
		  "machine.n.mac: driver netboot needs the address" },
		{ "mac = 52:54:00:12:34\n",
		  "machine.n.mac: '52:54:00:12:34' is no network address" },
		{ "mac = 52:54:00:12:34:56\n",
		  "machine.n.power-on: driver netboot needs a power control" },
		{ "mac = 52-54-00-12-34-5A\n\tpower-on = a\n",
		  "machine.n.power-off: power-on and power-off need each other" },
		{ "mac = 52:54:00:12:34:56\n\tipmi = 192.0.2.1\n",
		  "machine.n.ipmi-user: ipmi needs" },
		{ "mac = 52:54:00:12:34:56\n\tipmi = 192.0.2.1\n\tipmi-user = u\n",
		  "machine.n.ipmi-password-file: ipmi needs" },
		{ "mac = 52:54:00:12:34:56\n\tipmi = 192.0.2.1\n\tpower-on = a\n",
		  "machine.n.ipmi: there are power commands too" },
		{ "mac = 52:54:00:12:34:56\n\turl = https://192.0.2.1\n",
		  "machine.n.url: it has to begin with http://" },
		{ "mac = 52:54:00:12:34:56\n\turl = http://999.1.1.1\n",
		  "machine.n.url: the host has to be an address in numbers" },
		{ "mac = 52:54:00:12:34:56\n\turl = http://[::1\n",
		  "machine.n.url: it has to be like http://192.0.2.1:8080" },
		{ "mac = 52:54:00:12:34:56\n\turl = http://[::1]x\n",
		  "machine.n.url: it has to be like http://192.0.2.1:8080" },
		{ "mac = 52:54:00:12:34:56\n\turl = http://192.0.2.1:99999/x\n",
		  "machine.n.url: its port has to be 1 to 65535" },
		{ "mac = 52:54:00:12:34:56\n\turl = http://lab.example.org:8080\n",
		  "machine.n.url: the host has to be an address in numbers" },
		{ "mac = 52:54:00:12:34:56\n\tpower-on = a\n\tpower-off = b\n"
		  "[machine \"o\"]\n\tdriver = netboot\n\tmac = 52-54-00-12-34-56\n",
		  "machine.o.mac: machine 'n' has the same" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *text = xasprintf("%s\t%s", head, cases[i].keys);

		check_says(text, cases[i].want);
	}
	put("k.conf", "[machine \"n\"]\n\tdriver = netboot\n\tmac = 52:54:00:12:34:56\n"
		      "\turl = http://192.0.2.1:8080\n\tpower-on = a\n\tpower-off = b\n");
	assert_int_equal(run("config check k.conf"), 0);
}

#define SSH  "[machine \"s\"]\n\tdriver = ssh\n"
#define KEYS "\tknown-hosts = /etc/hosts\n\tkey-file = /etc/hosts\n"
#define JOB                                                                             \
	"[machine \"l\"]\n\tdriver = local\n[job \"j\"]\n\tgroup = l\n\tsuite = exec\n" \
	"\ttest = t\n\tparam = command=/bin/true\n"

/* What a driver would refuse at the first boot is refused before it, with the driver's words. */
static void config_check_knows_what_the_drivers_take(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ SSH KEYS, "machine.s: host '' is no name" },
		{ SSH KEYS "\thost = -oProxyCommand=x\n", "machine.s: host '-oProxyCommand=x'" },
		{ SSH "\thost = h\n", "machine.s: no known-hosts file" },
		{ SSH KEYS "\thost = h\n\tknown-hosts = /nonexistent\n", "'/nonexistent'" },
		{ SSH KEYS "\thost = h\n\tuser = -x\n", "machine.s: user '-x'" },
		{ SSH KEYS "\thost = h\n\tdir = rel\n", "dir 'rel' has to start with '/'" },
		{ SSH KEYS "\thost = h\n\tboot = command\n", "machine.s: boot is by a command" },
		{ SSH KEYS "\thost = h\n\tmac = 52:54:00:12:34:56\n",
		  "machine.s.mac: driver ssh has no use for '52:54:00:12:34:56', it is for netboot" },
		{ "[machine \"q\"]\n\tdriver = qemu\n\tpower-on = x\n",
		  "machine.q.power-on: driver qemu has no use for 'x', it is for netboot, ssh" },
		{ SSH KEYS "\thost = h\n\tpower-on = x\n",
		  "machine.s: there is a command for power" },
		{ SSH KEYS "\thost = h\n\tipmi = h:99999\n\tipmi-user = u\n"
			   "\tipmi-password-file = /etc/hosts\n",
		  "machine.s: ipmi 'h:99999'" },
		{ SSH KEYS "\thost = h\n\tipmi = -x\n\tipmi-user = u\n"
			   "\tipmi-password-file = /etc/hosts\n",
		  "machine.s: ipmi '-x'" },
		{ SSH KEYS "\thost = h\n\tipmi = h\n\tipmi-user = u\n"
			   "\tipmi-password-file = /nonexistent\n",
		  "machine.s: cannot read ipmi-password-file '/nonexistent'" },
		{ "[machine \"q\"]\n\tdriver = qemu\n\tmemory = 1M\n",
		  "'1M' is not between 64M and 90.95T" },
		{ JOB "\tmin-effect = 0\n", "'0' is not between 0.01% and 100%" },
		{ JOB "\tmonitor-interval = 2h\n", "'2h' is not between 0.1s and 1h" },
		{ "[suite \"nosuch\"]\n\tpath = /x\n", "suites are will-it-scale" },
		{ "[suite \"exec\"]\n\tpath = x\n", "suite.exec.path: 'x' has to begin with '/'" },
		{ "[suite \"exec\"]\n\tpath = /x\n\tgroup = g\n",
		  "suite.exec.group: no machine is in group 'g'" },
		{ JOB "[suite \"exec\"]\n\tgroup = l\n", "suite.exec.group: there is no path" },
		{ JOB "\tgovernor = a/b\n", "job.j: governor 'a/b' is no word" },
		{ JOB "\tsysctl = vm.swappiness=\n", "'vm.swappiness=' has to be NAME=VALUE" },
		{ JOB "\tsysctl = vm..swappiness=1\n", "vm..swappiness" },
		{ JOB "\tmonitor = vmstat\n\tmonitor = none\n",
		  "none stands together with others" },
		{ JOB "\tparam = nr_task=1,2\n[job \"j.1\"]\n\tgroup = l\n\tsuite = exec\n"
		      "\ttest = t\n\tparam = command=/bin/true\n",
		  "two jobs would be called 'j.1'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_says(cases[i].text, cases[i].want);
	put("k.conf",
	    SSH KEYS "\thost = h\n" JOB "\tgovernor = performance\n"
		     "\tsysctl = vm.swappiness=1\n[suite \"exec\"]\n\tpath = /x\n\tgroup = l\n");
	assert_int_equal(run("config check k.conf"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_has_help_on_stdout),
		cmocka_unit_test(a_wrong_option_is_named),
		cmocka_unit_test(a_wrong_value_is_named),
		cmocka_unit_test(global_options_count_behind_every_command),
		cmocka_unit_test(wrong_usage_is_a_problem_object_with_json),
		cmocka_unit_test(json_after_the_wrong_word_counts_as_well),
		cmocka_unit_test(an_output_that_was_cut_is_fatal),
		cmocka_unit_test(config_check_names_what_the_roles_would_refuse),
		cmocka_unit_test(config_check_wants_what_a_netboot_machine_needs),
		cmocka_unit_test(config_check_knows_what_the_drivers_take),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
