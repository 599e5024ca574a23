/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the agent that need no agent. */
#include "bot/base/file.h"
#include "runners/agent/facts.h"
#include "runners/agent/numbered.h"
#include "runners/agent/record.h"
#include "runners/agent/restore.h"
#include "runners/agent/settings.h"
#include "runners/agent/workdir.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char scratch[] = "/tmp/kperfbot-parts-XXXXXX";

static void put(const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", scratch, name);
	struct err e = { 0 };

	assert_ok(file_write(path, text, strlen(text), 0600, &e), &e);
}

static char *get(const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", scratch, name);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(file_read(path, 1 << 20, &b, &e), &e);
	return strbuf_take(&b);
}

static void a_restore_file_can_touch_nothing_but_settings(void **state)
{
	_cleanup_(freep) char *file = xasprintf("%s/restore", scratch);
	_cleanup_(freep) char *victim = NULL;
	_cleanup_(freep) char *text = xasprintf("%s/victim\tbad\n"
						"/sys/../%s/victim\tbad\n"
						"/proc/sys/../../%s/victim\tbad\n"
						"no tab\n\n\t\n\tx\n"
						"/sys/no/such/file\tvalue\n"
						"/proc/sys/kernel/hostname\tcut",
						scratch, scratch, scratch);

	(void)state;
	put("victim", "good");
	put("restore", text);
	assert_int_equal(settings_rescue(file), 0);
	victim = get("victim");
	assert_string_equal(victim, "good");
	assert_int_equal(access(file, F_OK), -1);
	/* And where there is none. */
	assert_int_equal(settings_rescue(file), 0);
}

static void a_restore_file_has_one_owner(void **state)
{
	_cleanup_(freep) char *file = xasprintf("%s/restore", scratch);
	_cleanup_(freep) char *text = NULL;
	struct err e = { 0 };
	int fd = -1, second = -1;

	(void)state;
	assert_ok(restore_open(file, &fd, &e), &e);
	assert_ok(restore_add(fd, "/sys/a", "1 2", &e), &e);
	assert_ok(restore_add(fd, "/sys/b", "x", &e), &e);
	text = get("restore");
	assert_string_equal(text, "/sys/a\t1 2\n/sys/b\tx\n");
	assert_err(restore_open(file, &second, &e), ERR_CONFLICT, &e);
	assert_int_equal(settings_rescue(file), 0);
	restore_close(file, fd);
	assert_int_equal(access(file, F_OK), -1);
	assert_err(restore_open("/nonexistent/restore", &second, &e), ERR_NOENT, &e);
}

static void a_restore_file_that_is_a_link_is_not_followed(void **state)
{
	_cleanup_(freep) char *file = xasprintf("%s/restore-link", scratch);
	_cleanup_(freep) char *victim = xasprintf("%s/victim", scratch);
	_cleanup_(freep) char *text = NULL;
	struct err e = { 0 };
	int fd = -1;

	(void)state;
	put("victim", "good");
	assert_int_equal(symlink(victim, file), 0);
	assert_true(restore_open(file, &fd, &e) < 0);
	assert_int_equal(settings_rescue(file), 0);
	text = get("victim");
	assert_string_equal(text, "good");
}

static void paths_with_numbers_come_in_order_of_the_numbers(void **state)
{
	static const char *const names[] = { "node10", "node2", "node0",  "nodes",
					     "node1x", "node",	"node-1", "node99999999999" };
	_cleanup_(freep) char *pattern = xasprintf("%s/n/node*/vmstat", scratch);
	char **paths;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(freep) char *dir = xasprintf("%s/n/%s", scratch, names[i]);
		_cleanup_(freep) char *name = xasprintf("n/%s/vmstat", names[i]);
		struct err e = { 0 };

		assert_ok(file_mkdirs(dir, 0700, &e), &e);
		if (i != 2)
			put(name, "x");
	}
	assert_int_equal(numbered_paths(pattern, &paths), 2);
	assert_non_null(strstr(paths[0], "/node2/vmstat"));
	assert_non_null(strstr(paths[1], "/node10/vmstat"));
	assert_null(paths[2]);
	numbered_free(paths);
	assert_int_equal(numbered_paths("/nonexistent/x*", &paths), 0);
	numbered_free(paths);
	assert_int_equal(numbered_paths("no-star", &paths), 0);
	numbered_free(paths);
	numbered_free(NULL);
}

static void counts_lists_of_cpus(void **state)
{
	static const struct {
		const char *text;
		int n;
	} lists[] = {
		{ "0-3\n", 4 }, { "0\n", 1 },	{ "0-1,4,6-7\n", 5 },	  { "\n", 0 },
		{ "x\n", 0 },	{ "3-1\n", 0 }, { "0-99999999999\n", 0 }, { "0-3,x", 4 },
		{ "0-3,,", 4 },
	};
	_cleanup_(freep) char *path = xasprintf("%s/list", scratch);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		put("list", lists[i].text);
		assert_int_equal(facts_list_count(path), lists[i].n);
	}
	assert_int_equal(facts_list_count("/nonexistent/list"), 0);
}

static void tells_only_facts_that_changed(void **state)
{
	json_t *before = json_pack("{ss si ss s[s]}", "governor", "powersave", "cpus", 4, "thp",
				   "never", "not_set_up", "/tmp");
	json_t *now = json_pack("{ss si ss}", "governor", "performance", "cpus", 4, "new", "x");
	json_t *changed = json_object();

	(void)state;
	facts_changed(before, now, changed);
	assert_int_equal(json_object_size(changed), 3);
	assert_string_equal(json_string_value(json_object_get(changed, "governor")), "performance");
	assert_string_equal(json_string_value(json_object_get(changed, "new")), "x");
	assert_true(json_is_null(json_object_get(changed, "thp")));
	json_decref(before);
	json_decref(now);
	json_decref(changed);
}

static void the_command_line_is_without_what_is_new_on_each_boot(void **state)
{
	_cleanup_(freep) char *a =
		facts_cmdline("quiet kperfbot.nonce=1-2 panic=1  kperfbot.url=x");
	_cleanup_(freep) char *b = facts_cmdline("kperfbot.nonce=1");
	_cleanup_(freep) char *c = facts_cmdline("");

	(void)state;
	assert_string_equal(a, "quiet panic=1");
	assert_string_equal(b, "");
	assert_string_equal(c, "");
}

static void reads_fields_and_chosen_words(void **state)
{
	_cleanup_(freep) char *path = xasprintf("%s/fields", scratch);
	_cleanup_(freep) char *a = NULL, *b = NULL, *c = NULL;

	(void)state;
	put("fields", "models: no\nmodel\t: yes\nmodel : later\nempty:\nlast: end");
	a = facts_read_field(path, "model");
	assert_string_equal(a, "yes");
	assert_null(facts_read_field(path, "empty"));
	assert_null(facts_read_field(path, "none"));
	b = facts_read_field(path, "last");
	assert_string_equal(b, "end");
	put("fields", "always [madvise] never\n");
	c = facts_read_chosen(path);
	assert_string_equal(c, "madvise");
	put("fields", "always [madvise never\n");
	assert_null(facts_read_chosen(path));
	put("fields", "] [\n");
	assert_null(facts_read_chosen(path));
}

static void a_folder_in_use_is_not_rescued(void **state)
{
	_cleanup_(freep) char *used = NULL, *left = NULL, *other = NULL;
	struct err e = { 0 };
	int lock;

	(void)state;
	(void)setenv("TMPDIR", scratch, 1);
	used = workdir_make("mine", &e);
	left = workdir_make("mine", &e);
	other = workdir_make("mine-too", &e);
	assert_non_null(used);
	lock = workdir_lock(used);
	assert_true(lock >= 0);
	assert_int_equal(workdir_lock(used), -1);
	assert_int_equal(workdir_rescue("mine", 1000), 0);
	assert_int_equal(workdir_rescue("mine", 0), 1);
	assert_int_equal(access(used, F_OK), 0);
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	(void)close(lock);
	assert_int_equal(workdir_rescue("mine", 0), 1);
	(void)unsetenv("TMPDIR");
}

static void removes_a_folder_but_follows_no_link(void **state)
{
	_cleanup_(freep) char *outside = xasprintf("%s/outside", scratch);
	_cleanup_(freep) char *dir = NULL, *link = NULL, *text = NULL;
	struct err e = { 0 };

	(void)state;
	put("outside", "kept");
	dir = workdir_make("work", &e);
	link = xasprintf("%s/link", dir);
	assert_int_equal(symlink(scratch, link), 0);
	assert_ok(workdir_remove(dir, &e), &e);
	text = get("outside");
	assert_string_equal(text, "kept");
	/* A second time there is nothing to do; a link in its place is not followed. */
	assert_ok(workdir_remove(dir, &e), &e);
	assert_int_equal(symlink(scratch, dir), 0);
	assert_true(workdir_remove(dir, &e) < 0);
	assert_int_equal(access(outside, F_OK), 0);
	(void)unlink(dir);
}

static void names_each_stream_once(void **state)
{
	struct link link = { .in = -1, .out = -1 };
	struct sink sink = { .link = &link };

	(void)state;
	assert_int_equal(sink_open(&sink, "file/a"), PROTO_NAMED);
	assert_int_equal(sink_open(&sink, "file/b"), PROTO_NAMED + 1);
	assert_int_equal(sink_open(&sink, "file/a"), 0);
	assert_int_equal(sink_open(&sink, "file/../a"), 0);
	assert_int_equal(sink_open(&sink, "other/a"), 0);
	for (unsigned i = 2; i <= PROTO_STREAM_MAX - PROTO_NAMED; i++) {
		char name[40];

		(void)snprintf(name, sizeof(name), "monitor/m%u", i);
		assert_int_equal(sink_open(&sink, name), PROTO_NAMED + i);
	}
	assert_int_equal(sink_open(&sink, "monitor/one-too-many"), 0);
	/* Nothing goes out when the driver is gone. */
	link_done(&link);
	assert_true(sink_flush(&sink) == 0);
	sink_put(&sink, PROTO_NAMED, "x", 1);
	assert_true(sink_flush(&sink) < 0);
	sink_put(&sink, PROTO_NAMED, "x", 1);
	assert_int_equal(sink_open(&sink, "file/c"), 0);
	assert_true(sink_beat(&sink) < 0);
	sink_done(&sink);
	link_done(&link);
}

static void recordings_end_before_they_are_too_long(void **state)
{
	static char name[] = "vmstat";
	char *const names[] = { name, NULL };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct link link = { .in = -1, .out = null };
	struct sink sink = { .link = &link };
	json_t *notes = json_object();
	struct recorder r;

	(void)state;
	record_init(&r, names, 1, &sink, notes);
	record_start(&r, 100);
	assert_true(record_tick(&r, 100.2) == 101);
	/* What was missed is not made up for. */
	assert_true(record_tick(&r, 110.5) == 111);
	r.records[0].sent = RECORD_MAX_BYTES - 10;
	(void)sink_flush(&sink);
	(void)record_tick(&r, 111);
	assert_int_equal(link.out_buf.len, 0);
	record_stop(&r, 112);
	assert_string_equal(json_string_value(json_object_get(notes, "vmstat")), "cut at 64 MiB");
	record_done(&r);
	sink_done(&sink);
	link_done(&link);
	json_decref(notes);
	(void)close(null);
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
		cmocka_unit_test(a_restore_file_can_touch_nothing_but_settings),
		cmocka_unit_test(a_restore_file_has_one_owner),
		cmocka_unit_test(a_restore_file_that_is_a_link_is_not_followed),
		cmocka_unit_test(paths_with_numbers_come_in_order_of_the_numbers),
		cmocka_unit_test(counts_lists_of_cpus),
		cmocka_unit_test(tells_only_facts_that_changed),
		cmocka_unit_test(the_command_line_is_without_what_is_new_on_each_boot),
		cmocka_unit_test(reads_fields_and_chosen_words),
		cmocka_unit_test(a_folder_in_use_is_not_rescued),
		cmocka_unit_test(removes_a_folder_but_follows_no_link),
		cmocka_unit_test(names_each_stream_once),
		cmocka_unit_test(recordings_end_before_they_are_too_long),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
