/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/console.h"
#include "tests/test.h"

#include <string.h>

static const struct {
	const char *line;
	enum console_sign sign;
} lines[] = {
	{ "[    1.234567] Kernel panic - not syncing: VFS: Unable to mount root fs",
	  CONSOLE_PANIC },
	{ "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009",
	  CONSOLE_PANIC },
	{ "<0>[    1.2][    T1] Kernel panic - not syncing: x", CONSOLE_PANIC },
	{ "[    0.1] BUG: kernel NULL pointer dereference, address: 0000000000000008",
	  CONSOLE_OOPS },
	{ "[    0.1] BUG: unable to handle page fault for address: ffff", CONSOLE_OOPS },
	{ "[    0.1] BUG: KASAN: slab-out-of-bounds in foo+0x1/0x2", CONSOLE_OOPS },
	{ "[    0.1] kernel BUG at mm/memory.c:4321!", CONSOLE_OOPS },
	{ "[    0.1] Oops: 0000 [#1] PREEMPT SMP NOPTI", CONSOLE_OOPS },
	{ "[    0.1] Oops: general protection fault, probably for address 0xdead", CONSOLE_OOPS },
	{ "[    0.1] general protection fault, probably for non-canonical address", CONSOLE_OOPS },
	{ "[    0.1] invalid opcode: 0000 [#1] SMP", CONSOLE_OOPS },
	{ "[   60.1] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [a:1]", CONSOLE_HANG },
	{ "[   60.1] rcu: INFO: rcu_sched self-detected stall on CPU", CONSOLE_HANG },
	{ "[   60.1] INFO: task kworker/0:1:12 blocked for more than 120 seconds.", CONSOLE_HANG },
	{ "[   60.1] Out of memory: Killed process 77 (usemem) total-vm:1kB", CONSOLE_OOM },
	{ "[   60.1] Memory cgroup out of memory: Killed process 7 (a)", CONSOLE_OOM },
	/* What only looks like trouble. */
	{ "[    0.0] Command line: console=ttyS0 panic=-1 oops=panic", CONSOLE_NONE },
	{ "[    0.0] debug: BUG: is a word in this message", CONSOLE_NONE },
	{ "[    0.0] test: expecting 'Kernel panic - not syncing'", CONSOLE_NONE },
	{ "[    0.0] spectre_v2 mitigation: Oops: no", CONSOLE_NONE },
	{ "[    0.0] INFO: task force exists", CONSOLE_NONE },
	{ "[    0.0] DEBUG: x", CONSOLE_NONE },
	{ "[drm] Oops: not a time stamp, but not ours to judge", CONSOLE_NONE },
	{ "[    0.0] panic_timeout is -1", CONSOLE_NONE },
	/* The line with the victim's name follows. */
	{ "[   60.1] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null)", CONSOLE_NONE },
	{ "", CONSOLE_NONE },
	{ "[", CONSOLE_NONE },
	{ "[ 1.0", CONSOLE_NONE },
	{ "<", CONSOLE_NONE },
};

static void tells_trouble_from_what_looks_like_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (console_line_sign(lines[i].line, NULL) != lines[i].sign)
			fail_msg("'%s' is taken for %d", lines[i].line,
				 (int)console_line_sign(lines[i].line, NULL));
	}
}

static void finds_a_line_split_at_every_byte(void **state)
{
	static const char text[] =
		"[ 0.1] Linux\r\n\033[1m[    0.5] Kernel panic - not syncing: gone\r\n"
		"[ 0.6] ---[ end Kernel panic - not syncing: gone ]---";

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		_cleanup_(console_done) struct console c = { 0 };
		_cleanup_(freep) char *all = NULL;
		size_t len;

		console_add(&c, text, cut);
		console_add(&c, text + cut, sizeof(text) - 1 - cut);
		assert_string_equal(c.signs[CONSOLE_PANIC], "Kernel panic - not syncing: gone");
		assert_null(c.signs[CONSOLE_OOPS]);
		all = console_text(&c, &len);
		assert_string_equal(all, text);
		assert_int_equal(len, sizeof(text) - 1);
	}
}

static void finds_a_line_that_never_ends(void **state)
{
	_cleanup_(console_done) struct console c = { 0 };

	(void)state;
	console_add(&c, "[ 0.5] Oops: 0000", 17);
	assert_string_equal(c.signs[CONSOLE_OOPS], "Oops: 0000");
	console_add(&c, " [#1] SMP", 9);
	assert_string_equal(c.signs[CONSOLE_OOPS], "Oops: 0000 [#1] SMP");
}

static void keeps_the_first_line_of_each_sign(void **state)
{
	static const char text[] = "BUG: one\nBUG: two\nkperfbot-agent: a\nkperfbot-agent: b\n";
	_cleanup_(console_done) struct console c = { 0 };

	(void)state;
	console_add(&c, text, sizeof(text) - 1);
	assert_string_equal(c.signs[CONSOLE_OOPS], "BUG: one");
	assert_string_equal(c.agent, "b");
}

static void keeps_head_and_tail_of_a_flood(void **state)
{
	_cleanup_(console_done) struct console c = { 0 };
	_cleanup_(freep) char *text = NULL;
	char block[4096];
	size_t len;

	(void)state;
	memset(block, 'x', sizeof(block));
	console_add(&c, "the head\n", 9);
	for (int i = 0; i < 4096; i++)
		console_add(&c, block, sizeof(block));
	console_add(&c, "\nBUG: at the end\n", 17);
	text = console_text(&c, &len);
	assert_true(len <= CONSOLE_HEAD_MAX + CONSOLE_TAIL_MAX + 100);
	assert_memory_equal(text, "the head\n", 9);
	assert_non_null(strstr(text, " bytes of console left out here]"));
	assert_string_equal(text + len - 17, "\nBUG: at the end\n");
	assert_string_equal(c.signs[CONSOLE_OOPS], "BUG: at the end");
	assert_true(c.tail.cap <= (size_t)8 * CONSOLE_TAIL_MAX);
}

static void what_it_reports_is_printable(void **state)
{
	static const char text[] = "BUG: a\x01\x7f\xff\tb\033[31mc\033\n";
	_cleanup_(console_done) struct console c = { 0 };

	(void)state;
	console_add(&c, text, sizeof(text) - 1);
	assert_string_equal(c.signs[CONSOLE_OOPS], "BUG: a??? bc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_trouble_from_what_looks_like_it),
		cmocka_unit_test(finds_a_line_split_at_every_byte),
		cmocka_unit_test(finds_a_line_that_never_ends),
		cmocka_unit_test(keeps_the_first_line_of_each_sign),
		cmocka_unit_test(keeps_head_and_tail_of_a_flood),
		cmocka_unit_test(what_it_reports_is_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
