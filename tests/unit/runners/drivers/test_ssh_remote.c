/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/ssh_remote.h"
#include "runners/drivers/ssh_script.h"
#include "tests/test.h"

#include <string.h>

static const struct lab_ssh box = {
	.host = "box.example.org",
	.key_file = "/etc/a key",
	.known_hosts_file = "/etc/known hosts",
};

static bool has(const struct ssh_args *a, const char *word)
{
	for (size_t i = 0; i + 1 < a->argv.len; i++) {
		if (!strcmp(a->argv.items[i], word))
			return true;
	}
	return false;
}

static void trusts_pinned_keys_and_nothing_else(void **state)
{
	static const char *const needed[] = {
		"BatchMode=yes",
		"StrictHostKeyChecking=yes",
		"GlobalKnownHostsFile=/dev/null",
		"UserKnownHostsFile=\"/etc/known hosts\"",
		"IdentityFile=\"/etc/a key\"",
		"IdentitiesOnly=yes",
		"IdentityAgent=none",
		"ControlMaster=no",
		"ControlPath=none",
		"ClearAllForwardings=yes",
		"ServerAliveInterval=5",
		"ServerAliveCountMax=3",
		"ConnectTimeout=7",
		"22",
		"root",
	};
	_cleanup_(ssh_args_done) struct ssh_args a = { 0 };
	size_t n;

	(void)state;
	ssh_args_make(&a, &box, "echo 'x'", 7);
	n = a.argv.len;
	assert_string_equal(a.argv.items[0], "ssh");
	assert_string_equal(a.argv.items[1], "-F");
	assert_string_equal(a.argv.items[2], "/dev/null");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!has(&a, needed[i]))
			fail_msg("'%s' is missing", needed[i]);
	}
	assert_null(a.argv.items[n - 1]);
	assert_string_equal(a.argv.items[n - 2], "exec /bin/sh -c 'echo '\\''x'\\'''");
	assert_string_equal(a.argv.items[n - 3], "box.example.org");
	assert_string_equal(a.argv.items[n - 4], "--");
}

static void puts_each_complaint_into_its_class(void **state)
{
	static const struct {
		int status;
		const char *said;
		enum lab_class class;
		const char *line;
	} cases[] = {
		{ 255, "", LAB_SSH, "" },
		{ 255, "\n\n \r\n", LAB_SSH, "" },
		{ 255, "Warning: x\nHost key verification failed.\r\n", LAB_SSH,
		  "Host key verification failed." },
		{ 255, "a@b: Permission denied (publickey).\n", LAB_SSH,
		  "a@b: Permission denied (publickey)." },
		{ 255, "ssh: connect to host b port 22: No route to host", LAB_NET,
		  "ssh: connect to host b port 22: No route to host" },
		{ 255, "Timeout, server b not responding.\r\n", LAB_NET,
		  "Timeout, server b not responding." },
		{ 255, "client_loop: send disconnect: Broken pipe\n", LAB_NET,
		  "client_loop: send disconnect: Broken pipe" },
		{ 255, "ssh: Could not resolve hostname b: Name or service not known", LAB_NET,
		  "ssh: Could not resolve hostname b: Name or service not known" },
		{ 255, "something new\n", LAB_SSH, "something new" },
		{ 1, "mkdir: cannot create directory: No space left on device\n", LAB_DISK,
		  "mkdir: cannot create directory: No space left on device" },
		{ 1, "sh: 1: cannot create /a: Read-only file system\nlast\n", LAB_DISK,
		  "sh: 1: cannot create /a: Read-only file system" },
		/* Of a command there, not of ssh: its words say nothing about the network. */
		{ 1, "cp: Permission denied\nConnection refused by somebody\n", LAB_SSH,
		  "Connection refused by somebody" },
		{ 127, "/bin/sh: 1: kexec: not found", LAB_SSH, "/bin/sh: 1: kexec: not found" },
		{ 255, "\033[31mred \x01\xff\n", LAB_SSH, "red ??" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(freep) char *line = NULL;

		assert_int_equal(ssh_failure_class(cases[i].status, cases[i].said, &line),
				 cases[i].class);
		assert_string_equal(line, cases[i].line);
	}
}

static void a_line_without_end_is_cut(void **state)
{
	_cleanup_(freep) char *said = xcalloc(1, 100001), *line = NULL;

	(void)state;
	memset(said, 'x', 100000);
	(void)ssh_failure_class(255, said, &line);
	assert_true(strlen(line) <= 300);
}

static void finds_the_first_word_of_an_answer(void **state)
{
	static const char *const out[] = {
		"", "\n\n", "boot_id", "boot_id\n", "boot_idx 1\n", "xboot_id 1", " boot_id 1",
	};
	struct ssh_answer a = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(out); i++) {
		strbuf_reset(&a.out);
		strbuf_addstr(&a.out, out[i]);
		assert_null(ssh_answer_word(&a, "boot_id"));
	}
	strbuf_reset(&a.out);
	strbuf_addstr(&a.out, "motd\nboot_id a\033[1mb\r\nboot_id c\n");
	{
		_cleanup_(freep) char *word = ssh_answer_word(&a, "boot_id");

		assert_string_equal(word, "ab?");
	}
	ssh_answer_done(&a);
}

static void quotes_what_comes_from_the_configuration(void **state)
{
	struct lab_ssh s = box;
	_cleanup_(freep) char *boot = NULL, *copy = NULL;

	(void)state;
	s.dir = "/var/lib/it's; reboot";
	s.initrd = "/boot/$(reboot)";
	boot = ssh_script_boot(&s, "aa", "x='1' `reboot` \"$HOME\"");
	copy = ssh_script_copy(&s, "aa");
	assert_non_null(strstr(boot, "d='/var/lib/it'\\''s; reboot'\n"));
	assert_non_null(strstr(boot, "INITRD='/boot/$(reboot)'\n"));
	assert_non_null(strstr(boot, "'x='\\''1'\\'' `reboot` \"$HOME\"'\n"));
	assert_non_null(strstr(copy, "f='/var/lib/it'\\''s; reboot/files/aa'\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trusts_pinned_keys_and_nothing_else),
		cmocka_unit_test(puts_each_complaint_into_its_class),
		cmocka_unit_test(a_line_without_end_is_cut),
		cmocka_unit_test(finds_the_first_word_of_an_answer),
		cmocka_unit_test(quotes_what_comes_from_the_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
