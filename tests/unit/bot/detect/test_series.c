/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories as CSV: what is read, and what is refused with its line. */
#include "bot/base/strbuf.h"
#include "bot/detect/series.h"
#include "bot/detect/series_time.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct series_file file;

static void parse(const char *text)
{
	struct err e = { 0 };

	series_file_done(&file);
	assert_ok(series_parse(text, strlen(text), false, &file, &e), &e);
}

static const struct series *only(const char *text)
{
	parse(text);
	assert_int_equal(file.items.len, 1);
	return &file.items.items[0];
}

/* Refused with @code, and @says in the reason. */
static void refused_n(const char *text, size_t len, int code, const char *says)
{
	struct series_file f = { .has_time = true };
	struct err e = { 0 };

	assert_err(series_parse(text, len, false, &f, &e), code, &e);
	if (!strstr(e.msg, says))
		fail_msg("'%s' is not in '%s'", says, e.msg);
	assert_true(f.items.len == 0 && f.has_time);
}

static void refused(const char *text, const char *says)
{
	refused_n(text, strlen(text), ERR_PARSE, says);
}

static void a_row_without_a_commit_is_a_point(void **state)
{
	const struct series *s = only("value\n1\n-2.5\n3e2\n");

	(void)state;
	assert_int_equal(s->points.len, 3);
	assert_string_equal(s->name, "");
	assert_true(s->points.items[1].value == -2.5);
	assert_true(isnan(s->points.items[1].time));
	assert_int_equal(s->rows.items[2], 2);
	assert_string_equal(s->commits.items[0], "");
	assert_false(file.has_time);
}

static void rows_of_a_commit_are_its_runs(void **state)
{
	const struct series *s = only("commit,value\na,3\na,1\na,8\nb,4\nb,6\nc,nan\nc,7\nd,nan\n");

	(void)state;
	assert_int_equal(s->points.len, 4);
	assert_true(s->points.items[0].value == 3);
	assert_true(s->points.items[0].units == 3);
	assert_true(s->points.items[1].value == 5);
	assert_true(s->points.items[2].value == 7);
	assert_true(s->points.items[2].units == 1);
	assert_true(isnan(s->points.items[3].value));
	assert_int_equal(s->rows.items[1], 3);
	assert_int_equal(s->last_rows.items[1], 4);
	assert_int_equal(s->nrows, 8);
	assert_int_equal(s->gaps, 2);
	assert_string_equal(s->commits.items[2], "c");
}

static void runs_of_one_boot_count_once(void **state)
{
	const struct series *s = only("boot,commit,value\n1,a,3\n1,a,4\n2,a,5\n3,b,1\n");

	(void)state;
	assert_true(s->points.items[0].units == 2);
	assert_true(s->points.items[0].value == 4);
	assert_true(s->points.items[1].units == 1);
}

static void series_and_machines_are_kept_apart(void **state)
{
	(void)state;
	parse("series,machine,commit,value\nx,m,a,1\ny,m,a,2\nx,n,a,3\nx,m,b,4\ny,m,b,5\nx,m,c,6\n");
	assert_int_equal(file.items.len, 3);
	assert_string_equal(file.items.items[0].name, "x");
	assert_int_equal(file.items.items[0].points.len, 3);
	assert_int_equal(file.items.items[1].points.len, 2);
	assert_string_equal(file.items.items[2].machine, "n");
	assert_int_equal(file.items.items[0].rows.items[2], 2);
}

static void dos_lines_quotes_and_a_byte_order_mark_are_fine(void **state)
{
	const struct series *s;

	(void)state;
	s = only("\xef\xbb\xbf"
		 "commit,value\r\n\"a,\"\"1\"\"\nx\",\"1\"\r\nb,2\r\n\r\n\n");
	assert_int_equal(s->points.len, 2);
	assert_string_equal(s->commits.items[0], "a,\"1\"\nx");
	assert_true(s->points.items[0].value == 1);
	s = only("value\r\n7\r");
	assert_true(s->points.items[0].value == 7);
}

static void the_last_line_needs_no_line_end(void **state)
{
	assert_int_equal(only("value\n1\n2")->points.len, 2);
	(void)state;
}

static void unknown_values_are_gaps(void **state)
{
	const struct series *s = only("value\nnan\nNaN\nNA\ninf\n-Inf\n1\n");

	(void)state;
	assert_int_equal(s->points.len, 6);
	assert_int_equal(s->gaps, 5);
	assert_true(s->points.items[5].value == 1);
}

static void holes_are_refused(void **state)
{
	(void)state;
	refused("value\n1\n\n2\n", "line 3");
	refused("commit,value\na,1\nb,\n", "line 3");
	refused("commit,value\na,1\n,2\n", "line 3");
	refused("commit,value\na,1\nb\n", "line 3: 1 fields under 2");
	refused("commit,value\na,1\n\nb,1\n", "line 3");
	refused("commit,value\n\"a\nb\",1\nc\n", "line 4");
}

static void wrong_columns_are_refused(void **state)
{
	(void)state;
	refused("", "line 1: no header");
	refused("\n1\n", "line 1: unknown column ''");
	refused("commit,val\na,1\n", "line 1: unknown column 'val'");
	refused("Value\n1\n", "line 1: unknown column 'Value'");
	refused("commit;value\na;1\n", "line 1: unknown column 'commit;value'");
	refused("value,value\n1,1\n", "line 1: column 'value' twice");
	refused("commit,time\na,1\n", "line 1: no column 'value'");
	refused("1\n2\n3\n", "line 1: unknown column '1'");
}

static void what_is_no_number_is_refused(void **state)
{
	(void)state;
	refused("value\n1,5\n", "line 2: 2 fields under 1 column names; the decimal sign");
	refused("value\n\"1,5\"\n", "line 2: value '1,5' has a comma; the decimal sign is a point");
	refused("value\n1\n0x10\n", "line 3: value '0x10' is no number");
	refused("value\n1e999\n", "line 2");
	refused("value\n 1\n", "line 2");
	refused("value\n1 000\n", "line 2");
	refused("value\nnull\n", "line 2");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	(void)state;
	refused_n("value\n1\n2\0003\n", 12, ERR_PARSE, "line 3: there is a NUL byte");
	refused_n("commit,value\n\"a\0\",3\n", 20, ERR_PARSE, "line 2: there is a NUL byte");
	refused("commit,value\n\xff,1\n", "line 2: not UTF-8");
	refused("commit,value\n\"a,1\n", "line 2: a quoted field does not end");
	refused("commit,value\n\"a\"b,1\n", "line 2: text behind a closing quote");
	refused("commit,value\na\"b,1\n", "line 2: a quote inside of a field");
}

static void commits_out_of_order_are_refused(void **state)
{
	(void)state;
	refused("commit,value\na,1\nb,2\na,3\n", "line 4: commit 'a' again, after others");
	parse("series,commit,value\nx,a,1\nx,b,2\ny,a,3\ny,b,3\n");
	assert_int_equal(file.items.len, 2);
}

static void too_much_is_refused(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&b, "commit,value\n");
	for (int i = 0; i < SERIES_FIELD_MAX + 1; i++)
		strbuf_addch(&b, 'a');
	refused_n(b.s, b.len, ERR_TOO_BIG, "line 2: a field is longer");
	strbuf_cut(&b, 13 + SERIES_NAME_MAX + 1);
	strbuf_addstr(&b, ",1\n");
	refused_n(b.s, b.len, ERR_TOO_BIG, "line 2: commit");
	strbuf_reset(&b);
	strbuf_addstr(&b, "value\n1");
	for (int i = 0; i < 100; i++)
		strbuf_addch(&b, ',');
	refused_n(b.s, b.len, ERR_TOO_BIG, "line 2: more than 64 fields");
	strbuf_reset(&b);
	strbuf_addstr(&b, "value\n");
	for (int i = 0; i <= CHANGES_POINTS_MAX; i++)
		strbuf_addstr(&b, "1\n");
	refused_n(b.s, b.len, ERR_TOO_BIG, "line 200002: more than 200000 commits");
	strbuf_done(&b);
}

static void many_series_and_commits_are_found_again(void **state)
{
	struct strbuf b = STRBUF_INIT;

	(void)state;
	strbuf_addstr(&b, "series,commit,value,time\n");
	for (int i = 0; i < 300; i++) {
		for (int k = 0; k < 100; k++)
			strbuf_addf(&b, "s%d,c%d,%d,%d\n", k, i, i + k, i);
	}
	for (int k = 0; k < 100; k++)
		strbuf_addf(&b, "s%d,c%d,%d,%d\n", k, k, 7, 1000);
	parse(b.s);
	assert_int_equal(file.items.len, 100);
	vec_foreach (s, &file.items) {
		assert_int_equal(s->points.len, 300);
		assert_int_equal(s->again.len, 1);
		assert_int_equal(s->again.items[0].index, s - file.items.items);
		assert_true(s->again.items[0].value == 7);
	}
	strbuf_done(&b);
}

static void a_commit_measured_later_is_told_apart(void **state)
{
	const struct series *s;

	(void)state;
	s = only(
		"commit,time,value\na,100,1\na,110,2\na,900,50\nb,200,3\nb,350,4\nc,300,5\nd,400,6\n"
		"b,950,60\n");
	assert_int_equal(s->points.len, 4);
	assert_int_equal(s->again.len, 2);
	assert_true(s->again.items[0].index == 0 && s->again.items[0].value == 50);
	assert_true(s->again.items[1].index == 1 && s->again.items[1].time == 950);
	assert_true(s->points.items[0].value == 1.5);
	assert_true(s->points.items[1].value == 3.5);
	assert_true(s->points.items[1].time == 200);
	/* All of it measured late: a bisection, say. */
	s = only("commit,time,value\na,100,1\nb,900,2\nb,910,4\nc,300,5\nd,400,6\n");
	assert_int_equal(s->again.len, 0);
	assert_true(s->points.items[1].value == 3);
}

static void every_row_of_a_control_build_is_a_point(void **state)
{
	static const char text[] = "commit,time,value\nk,1,1\nk,2,2\nk,3,3\n";
	struct series_file control = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(series_parse(text, strlen(text), true, &control, &e), &e);
	assert_int_equal(control.items.items[0].points.len, 3);
	assert_true(control.items.items[0].points.items[2].time == 3);
	parse("series,value\nx,1\n");
	assert_ptr_equal(series_file_control(&control, &file.items.items[0]),
			 &control.items.items[0]);
	series_file_done(&control);
	assert_null(series_file_control(&control, &file.items.items[0]));
}

static void the_control_is_the_one_of_the_same_name_and_machine(void **state)
{
	static const char text[] = "series,machine,value\nx,m,1\ny,m,2\ny,n,2\n";
	struct series_file c = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_ok(series_parse(text, strlen(text), true, &c, &e), &e);
	parse("series,machine,value\nx,m,1\nz,m,1\nz,n,1\nz,o,1\n");
	assert_ptr_equal(series_file_control(&c, &file.items.items[0]), &c.items.items[0]);
	assert_null(series_file_control(&c, &file.items.items[1]));
	assert_ptr_equal(series_file_control(&c, &file.items.items[2]), &c.items.items[2]);
	assert_null(series_file_control(&c, &file.items.items[3]));
	series_file_done(&c);
}

static void series_are_kept_by_name(void **state)
{
	(void)state;
	parse("series,machine,value\nx,m,1\ny,m,2\nz,m,3\ny,n,4\n");
	assert_true(series_file_has(&file, "y"));
	assert_false(series_file_has(&file, "m"));
	series_file_keep(&file, "y");
	assert_int_equal(file.items.len, 2);
	assert_string_equal(file.items.items[1].machine, "n");
	series_file_keep(&file, "w");
	assert_int_equal(file.items.len, 0);
}

static void times_are_seconds_or_dates(void **state)
{
	static const struct {
		const char *text;
		double want;
	} good[] = {
		{ "0", 0 },
		{ "1709210096.5", 1709210096.5 },
		{ "1970-01-01", 0 },
		{ "2024-02-29T12:34:56Z", 1709210096 },
		{ "2024-02-29 12:34:56.5", 1709210096.5 },
		{ "2024-02-29T12:34Z", 1709210040 },
		{ "2024-02-29T14:04:56+01:30", 1709210096 },
		{ "2024-02-29T07:34:56-0500", 1709210096 },
		{ "1969-12-31T23:59:59Z", -1 },
		{ "2000-03-01", 951868800 },
	};
	static const char *const bad[] = {
		"yesterday",   "2023-02-29",	   "2024-13-01", "2024-2-3",
		"2024-02-29T", "2024-02-29T25:00", "12:00",	 "2024-02-29T12:00x",
		"nan",	       "0000-01-01",	   "1e300",	 "2024-02-29T12:00:00.Z"
	};
	double t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(series_time_parse(good[i].text, &t), 0);
		if (t != good[i].want)
			fail_msg("%s is %f, not %f", good[i].text, t, good[i].want);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (series_time_parse(bad[i], &t) != ERR_PARSE)
			fail_msg("%s is taken as a time", bad[i]);
	}
	assert_int_equal(series_time_parse("", &t), 0);
	assert_true(isnan(t));
	refused("time,value\n1,1\nyesterday,2\n", "line 3: time 'yesterday'");
}

/* A file of tests/data/series/sap_small_2021 as our CSV: index,build,value. */
static const struct series *load_labelled(const char *name)
{
	char *path = xasprintf("%s/tests/data/series/sap_small_2021/%s", TEST_SOURCE_DIR, name);
	FILE *f = fopen(path, "re");
	struct strbuf b = STRBUF_INIT;
	char line[256];

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	strbuf_addstr(&b, "commit,value\n");
	while (fgets(line, sizeof(line), f))
		strbuf_addstr(&b, strchr(line, ',') + 1);
	assert_int_equal(fclose(f), 0);
	parse(b.s);
	strbuf_done(&b);
	free(path);
	return &file.items.items[0];
}

static void check_labelled(const char *name, long last_good)
{
	const struct series *s = load_labelled(name);

	for (int v = CHANGES_BALANCED; v <= CHANGES_ONLINE; v++) {
		struct changes_options o = { .sensitivity = (enum changes_sensitivity)v };
		struct changes c = { 0 };
		long found = 0;

		assert_int_equal(changes_find(s->points.items, s->points.len, NULL, &o, &c, NULL),
				 0);
		for (size_t i = 0; i < c.n; i++) {
			const struct change_point *p = &c.items[i];

			if (p->kind == CHANGE_OUTLIER_RUN)
				continue;
			/* The run after the last good one is of the build, or of one beside it. */
			if (last_good > 0 && (long)s->rows.items[p->index - 1] <= last_good &&
			    (p->index + 2 >= s->points.len ||
			     (long)s->rows.items[p->index + 2] > last_good))
				found++;
			else
				fail_msg("%s, %s: change at row %zu", name,
					 changes_sensitivity_name(o.sensitivity),
					 s->rows.items[p->index]);
		}
		if (found != (last_good > 0))
			fail_msg("%s, %s: the regression is not found", name,
				 changes_sensitivity_name(o.sensitivity));
		changes_done(&c);
	}
}

static void series_that_people_labelled_come_out_right(void **state)
{
	FILE *f = fopen(TEST_SOURCE_DIR "/tests/data/series/sap_small_2021/labels.csv", "re");
	char line[256], *rest;
	int n = 0;

	(void)state;
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f)) {
		rest = strrchr(line, ',');
		line[strcspn(line, ",")] = '\0';
		check_labelled(line, strtol(rest + 1, NULL, 10));
		n++;
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(n, 15);
}

static int tear_down(void **state)
{
	(void)state;
	series_file_done(&file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_without_a_commit_is_a_point),
		cmocka_unit_test(rows_of_a_commit_are_its_runs),
		cmocka_unit_test(runs_of_one_boot_count_once),
		cmocka_unit_test(series_and_machines_are_kept_apart),
		cmocka_unit_test(dos_lines_quotes_and_a_byte_order_mark_are_fine),
		cmocka_unit_test(the_last_line_needs_no_line_end),
		cmocka_unit_test(unknown_values_are_gaps),
		cmocka_unit_test(holes_are_refused),
		cmocka_unit_test(wrong_columns_are_refused),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(bytes_that_are_no_text_are_refused),
		cmocka_unit_test(commits_out_of_order_are_refused),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(many_series_and_commits_are_found_again),
		cmocka_unit_test(a_commit_measured_later_is_told_apart),
		cmocka_unit_test(every_row_of_a_control_build_is_a_point),
		cmocka_unit_test(the_control_is_the_one_of_the_same_name_and_machine),
		cmocka_unit_test(series_are_kept_by_name),
		cmocka_unit_test(times_are_seconds_or_dates),
		cmocka_unit_test(series_that_people_labelled_come_out_right),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
