/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the driver "qemu" is made of: its archive, its command line, and QMP. */
#include "bot/base/cleanup.h"
#include "bot/base/file.h"
#include "runners/drivers/initramfs.h"
#include "runners/drivers/qemu_args.h"
#include "runners/drivers/qmp.h"
#include "tests/test.h"

#include <string.h>

static char scratch[] = "/tmp/kperfbot-drivers-XXXXXX";

static unsigned long field(const char *header, int n)
{
	char hex[9] = { 0 };

	memcpy(hex, header + 6 + (ptrdiff_t)8 * n, 8);
	return strtoul(hex, NULL, 16);
}

/* Walks a newc archive; puts "name:mode:size " of each member into @list. */
static void list_archive(const struct strbuf *a, struct strbuf *list)
{
	size_t pos = 0;

	for (;;) {
		const char *h = a->s + pos;
		size_t size, name;

		assert_true(a->len - pos >= 110);
		assert_memory_equal(h, "070701", 6);
		size = field(h, 6);
		name = field(h, 11);
		assert_int_equal(h[110 + name - 1], '\0');
		if (!strcmp(h + 110, "TRAILER!!!"))
			return;
		strbuf_addf(list, "%s:%lo:%zu ", h + 110, field(h, 1), size);
		pos = (pos + 110 + name + 3) / 4 * 4;
		pos = (pos + size + 3) / 4 * 4;
	}
}

static void the_archive_holds_what_a_kernel_needs(void **state)
{
	_cleanup_(freep) char *agent = xasprintf("%s/agent", scratch);
	_cleanup_(freep) char *work = xasprintf("%s/work", scratch);
	_cleanup_(freep) char *path = xasprintf("%s/out.cpio", scratch);
	_cleanup_(strbuf_done) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf list = STRBUF_INIT;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_write(agent, "12345", 5, 0755, &e), &e);
	assert_ok(file_write(work, "1234567", 7, 0755, &e), &e);
	assert_ok(initramfs_write(path, agent, work, &e), &e);
	assert_ok(file_read(path, 1 << 20, &first, &e), &e);
	list_archive(&first, &list);
	assert_string_equal(list.s, "dev:40755:0 dev/console:20600:0 dev/null:20666:0 proc:40555:0 "
				    "sys:40555:0 tmp:41777:0 bin:40755:0 init:100755:5 "
				    "bin/kperfbot-workloads:100755:7 ");
	assert_ok(initramfs_write(path, agent, work, &e), &e);
	assert_ok(file_read(path, 1 << 20, &second, &e), &e);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.s, second.s, first.len);
}

static void refuses_an_archive_without_its_programs(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/bad.cpio", scratch);
	struct err e = { 0 };

	(void)state;
	assert_err(initramfs_write(path, "/nonexistent/a", "/nonexistent/b", &e), ERR_NOENT, &e);
	assert_non_null(strstr(e.msg, "/nonexistent/a"));
	assert_err(initramfs_write("/nonexistent/dir/x", path, path, &e), ERR_NOENT, &e);
}

static void an_overlay_is_an_archive_behind_the_first(void **state)
{
	_cleanup_(freep) char *part = xasprintf("%s/part", scratch);
	_cleanup_(freep) char *over = xasprintf("%s/over.cpio", scratch);
	_cleanup_(freep) char *path = xasprintf("%s/both.cpio", scratch);
	_cleanup_(strbuf_done) struct strbuf one = STRBUF_INIT, both = STRBUF_INIT;
	struct err e = { 0 };

	(void)state;
	assert_ok(file_write(part, "12345", 5, 0755, &e), &e);
	assert_ok(initramfs_write(path, part, part, &e), &e);
	assert_ok(initramfs_write(over, part, part, &e), &e);
	assert_ok(file_read(path, 1 << 20, &one, &e), &e);
	assert_ok(initramfs_overlay(path, over, &e), &e);
	assert_ok(file_read(path, 1 << 20, &both, &e), &e);
	assert_int_equal(one.len % 4, 0);
	assert_int_equal(both.len, 2 * one.len);
	assert_memory_equal(both.s, one.s, one.len);
	assert_memory_equal(both.s + one.len, one.s, one.len);
	assert_err(initramfs_overlay(path, "/nonexistent/over", &e), ERR_NOENT, &e);
	assert_err(initramfs_overlay("/dev/full", over, &e), ERR_NOSPACE, &e);
}

static void a_full_disk_is_an_error(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_err(initramfs_write("/dev/full", TEST_SOURCE_DIR "/COPYING",
				   TEST_SOURCE_DIR "/COPYING", &e),
		   ERR_NOSPACE, &e);
}

static const char *after(const struct qemu_args *a, const char *option)
{
	for (size_t i = 0; i + 2 < a->argv.len; i++) {
		if (!strcmp(a->argv.items[i], option))
			return a->argv.items[i + 1];
	}
	return "";
}

static void the_command_line_says_how_time_is_counted(void **state)
{
	const struct lab_machine m = { .cpus = 4, .memory_bytes = 1ull << 30, .append = "quiet" };
	char key[] = "thp", never[] = "never";
	const struct suite_param thp = { key, never };
	const struct lab_request q = {
		.kernel_path = "/k,1", .nonce = "n1", .settings = &thp, .nsettings = 1
	};
	const struct qemu_fds fds = { 11, 12, 13, 14 };
	static const struct {
		enum qemu_accel accel;
		const char *name, *accel_arg, *smp, *icount, *append;
	} want[] = {
		{ QEMU_KVM, "kvm", "kvm", "4", "",
		  "console=ttyS0 panic=-1 oops=panic kperfbot.nonce=n1 transparent_hugepage=never quiet" },
		{ QEMU_TCG, "tcg", "tcg", "4", "",
		  "console=ttyS0 panic=-1 oops=panic kperfbot.nonce=n1 transparent_hugepage=never quiet" },
		{ QEMU_ICOUNT, "icount", "tcg,thread=single", "1", "shift=4,sleep=off",
		  "console=ttyS0 panic=-1 oops=panic kperfbot.nonce=n1 transparent_hugepage=never "
		  "nokaslr quiet" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		_cleanup_(qemu_args_done) struct qemu_args a = { 0 };
		enum qemu_accel found;
		struct err e = { 0 };

		qemu_args_guest(&a, &m, &q, want[i].accel, "/i", &fds);
		assert_null(a.argv.items[a.argv.len - 1]);
		assert_string_equal(a.argv.items[0], "qemu-system-x86_64");
		assert_string_equal(after(&a, "-accel"), want[i].accel_arg);
		assert_string_equal(after(&a, "-smp"), want[i].smp);
		assert_string_equal(after(&a, "-icount"), want[i].icount);
		assert_string_equal(after(&a, "-append"), want[i].append);
		assert_string_equal(after(&a, "-m"), "1024M");
		assert_string_equal(after(&a, "-kernel"), "/k,1");
		assert_string_equal(qemu_accel_name(want[i].accel), want[i].name);
		assert_ok(qemu_accel_find(want[i].name, &found, &e), &e);
		assert_int_equal(found, want[i].accel);
	}
}

static void qmp_tells_why_a_guest_ended(void **state)
{
	static const char text[] =
		"{\"QMP\":{\"version\":{}}}\r\n{\"return\":{}}\r\n{\"event\":\"RESUME\"}\r\n"
		"{\"event\":\"SHUTDOWN\",\"data\":{\"guest\":true,\"reason\":\"guest-reset\"}}\r\n"
		"{\"event\":\"STOP\"}\r\n";

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		_cleanup_(qmp_done) struct qmp q = { 0 };
		struct err e = { 0 };

		assert_ok(qmp_add(&q, text, cut, &e), &e);
		assert_ok(qmp_add(&q, text + cut, sizeof(text) - 1 - cut, &e), &e);
		assert_true(q.greeted && q.running);
		assert_string_equal(q.shutdown, "guest-reset");
		assert_string_equal(q.stopped, "");
		assert_string_equal(strbuf_str(&q.out),
				    "{\"execute\":\"qmp_capabilities\"}\n{\"execute\":\"cont\"}\n");
	}
}

static void qmp_asks_about_a_stop_that_nobody_wanted(void **state)
{
	static const char stop[] = "{\"event\":\"STOP\"}\n";
	static const char answer[] =
		"{\"return\":{\"status\":\"internal-error\",\"running\":false}}\n";
	_cleanup_(qmp_done) struct qmp q = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(qmp_add(&q, stop, sizeof(stop) - 1, &e), &e);
	assert_string_equal(strbuf_str(&q.out), "{\"execute\":\"query-status\"}\n");
	assert_ok(qmp_add(&q, answer, sizeof(answer) - 1, &e), &e);
	assert_string_equal(q.stopped, "internal-error");
}

static void qmp_refuses_what_is_none(void **state)
{
	static const char *const bad[] = {
		"hello\n",
		"[1]x\n",
		"{\"a\":1,\"a\":2}\n",
		"{\"error\":{\"class\":\"GenericError\",\"desc\":\"no such thing\"}}\n",
	};
	_cleanup_(freep) char *big = xcalloc(1, QMP_LINE_MAX + 1);
	_cleanup_(qmp_done) struct qmp long_line = { 0 };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_(qmp_done) struct qmp q = { 0 };

		assert_true(qmp_add(&q, bad[i], strlen(bad[i]), &e) < 0);
	}
	memset(big, 'x', QMP_LINE_MAX + 1);
	assert_err(qmp_add(&long_line, big, QMP_LINE_MAX + 1, &e), ERR_TOO_BIG, &e);
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return file_remove_tree(scratch, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_archive_holds_what_a_kernel_needs),
		cmocka_unit_test(refuses_an_archive_without_its_programs),
		cmocka_unit_test(an_overlay_is_an_archive_behind_the_first),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(the_command_line_says_how_time_is_counted),
		cmocka_unit_test(qmp_tells_why_a_guest_ended),
		cmocka_unit_test(qmp_asks_about_a_stop_that_nobody_wanted),
		cmocka_unit_test(qmp_refuses_what_is_none),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
