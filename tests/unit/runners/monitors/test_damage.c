/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged and hostile recordings: what is there is right, what cannot be had is absent. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"
#include "tests/unit/runners/monitors/recordings.h"

#include <math.h>
#include <string.h>

#define MUTATIONS 200 /* of each recording */

static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static bool ends(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && !strcmp(s + n - t, tail);
}

/*
 * A count per unit of work is only given where all work was seen, so it is that of the whole recording
 * in every cut, within the part of the last sample's distance that counts as all.
 */
static void check_prefix(const struct recording *rec, const struct suite_output *whole,
			 const struct suite_output *cut)
{
	for (size_t i = 0; i < cut->n; i++) {
		const struct suite_metric *m = &cut->metrics[i];
		const struct suite_metric *w = suite_metric_find(whole, m->name);

		/* turbostat's counts are scaled from the part to the whole; small profiles have more names. */
		if (!strcmp(rec->monitor, "turbostat") || !strcmp(rec->monitor, "perf-profile"))
			continue;
		if (!w)
			fail_msg("%s: %s is only in a cut recording", rec->name, m->name);
		if (ends(m->name, ".per_op"))
			assert_near(m->value, w->value, 0);
	}
	assert_true(cut->n <= whole->n || !strcmp(rec->monitor, "perf-profile") || cut->problems_n);
}

/* What cut lines alone change: the same text up to the last whole line. */
static void check_same(const struct suite_output *a, const struct suite_output *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->metrics[i].name, b->metrics[i].name);
		assert_near(a->metrics[i].value, b->metrics[i].value, 0);
	}
}

static void cut_recordings_give_nothing_wrong(void **state)
{
	(void)state;
	for (const struct recording *rec = recordings; rec->name; rec++) {
		size_t len, step;
		_cleanup_(freep) char *text = recording_load(rec->name, &len);
		struct suite_output whole, cut, lines = { 0 };

		recording_parse(rec->monitor, text, len, rec->span_s, &whole);
		step = len > 2000 ? len / 60 + 1 : 31;
		for (size_t n = 0; n < len; n += step) {
			const char *nl = n ? memrchr(text, '\n', n) : NULL;
			_cleanup_(freep) char *copy = xcalloc(n + 1, 1);

			memcpy(copy, text, n);
			recording_parse(rec->monitor, copy, n, rec->span_s, &cut);
			check_prefix(rec, &whole, &cut);
			recording_parse(rec->monitor, copy, nl ? (size_t)(nl + 1 - text) : 0,
					rec->span_s, &lines);
			check_same(&cut, &lines);
			suite_output_done(&cut);
			suite_output_done(&lines);
		}
		suite_output_done(&whole);
	}
}

static void counters_of_cut_files_are_missing(void **state)
{
	size_t len, at = 0;
	_cleanup_(freep) char *text = recording_load("proc-vmstat", &len);
	struct suite_output out;

	(void)state;
	/* In the middle of the last sample: levels are there up to the one before. */
	for (size_t i = 0; i + 9 < len; i++)
		if (!memcmp(text + i, "\npgfault ", 9))
			at = i;
	recording_parse("proc-vmstat", text, at + 1, 6.06, &out);
	expect_missing(&out, "proc-vmstat.pgfault");
	expect_missing(&out, "proc-vmstat.pgmajfault");
	assert_non_null(suite_metric_find(&out, "proc-vmstat.pgfree"));
	expect_problem(&out, "not in both the first and the last sample");
	suite_output_done(&out);
}

static void mutate(char *text, size_t len, uint64_t *seed)
{
	static const char *const words[] = {
		"nan",		 "inf",	 "-1", "1e9",  "99999999999999999999999",
		"#sample 1\n",	 "\t\t", "\n", "0x10", "1,5",
		"<not counted>", "%",	 "- -"
	};
	unsigned n = 1 + (unsigned)(next(seed) % 8);

	while (n-- > 0 && len > 0) {
		size_t at = (size_t)(next(seed) % len);
		const char *w = words[next(seed) % ARRAY_SIZE(words)];
		size_t k = strlen(w) < len - at ? strlen(w) : len - at;

		switch (next(seed) % 5) {
		case 0:
			text[at] = (char)next(seed);
			break;
		case 1:
			text[at] = '\0';
			break;
		case 2:
			memcpy(text + at, w, k);
			break;
		case 3: /* a piece from elsewhere */
			k = (size_t)(next(seed) % 200);
			k = k < len - at ? k : len - at;
			memmove(text + at, text + (size_t)(next(seed) % (len - k + 1)), k);
			break;
		default:
			text[at] = (char)('0' + next(seed) % 10);
			break;
		}
	}
}

static void survives_thousands_of_mutations(void **state)
{
	uint64_t seed = 20301201;

	(void)state;
	for (const struct recording *rec = recordings; rec->name; rec++) {
		size_t len;
		_cleanup_(freep) char *text = recording_load(rec->name, &len);

		/* Of long ones the start says as much. */
		len = len > 4000 ? 4000 : len;
		for (int i = 0; i < MUTATIONS; i++) {
			_cleanup_(freep) char *copy = xcalloc(len, 1);
			struct suite_output out;

			memcpy(copy, text, len);
			mutate(copy, len, &seed);
			recording_parse(rec->monitor, copy, len, rec->span_s, &out);
			suite_output_done(&out);
		}
	}
}

static void every_monitor_survives_the_recordings_of_all(void **state)
{
	(void)state;
	for (const struct recording *rec = recordings; rec->name; rec++) {
		size_t len;
		_cleanup_(freep) char *text = recording_load(rec->name, &len);

		for (size_t i = 0; monitor_list(i); i++) {
			struct suite_output out;

			recording_parse(monitor_list(i)->name, text, len, 1, &out);
			suite_output_done(&out);
		}
	}
}

static void names_are_limited(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct suite_output out;

	(void)state;
	for (int s = 0; s < 2; s++) {
		strbuf_addf(&b, "#sample %d\n#file /proc/vmstat\n", s);
		for (int i = 0; i < 300000; i++)
			strbuf_addf(&b, "x%d %d\n", i, i);
	}
	recording_parse("proc-vmstat", b.s, b.len, 1, &out);
	assert_int_equal(out.n, 2 * 20000);
	expect_problem(&out, "more than 20000 names");
	suite_output_done(&out);
	strbuf_done(&b);
}

static void long_lines_are_survived(void **state)
{
	static const char *const starts[] = { "",
					      "#sample ",
					      "#sample 0\n#file ",
					      "cpu  ",
					      "\t10 ",
					      "a 1/1 1.0: ",
					      "# Samples: 1 of event '",
					      "10:00:00 CPU %usr ",
					      "Core\tCPU\tAvg_MHz\t",
					      "{\"counter-value\":[",
					      "1,,cycles,1,100.00,",
					      "#profile 1\nevent 1 1 0 0 " };
	static const char fill[] = "7 (/,]: \t\0[x%";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		for (size_t f = 0; f < sizeof(fill) - 1; f++) {
			_cleanup_(freep) char *text = xcalloc(1 << 17, 1);
			size_t n = strlen(starts[i]);

			memset(text, fill[f], 1 << 17);
			memcpy(text, starts[i], n);
			text[(1 << 17) - 1] = '\n';
			for (size_t m = 0; monitor_list(m); m++) {
				struct suite_output out;

				recording_parse(monitor_list(m)->name, text, 1 << 17, 1, &out);
				suite_output_done(&out);
			}
		}
}

/* Each of these would take hours if a line were gone over for each of its parts. */
static void time_grows_with_length_only(void **state)
{
	static const struct {
		const char *monitor, *start, *part, *end;
	} cases[] = {
		{ "perf-profile", "a 1/1 1.0: 1 e: \n\t10 f", " (", ")\n\n" },
		{ "perf-profile", "a 1/1 1.0: 1 e: \n\t10 f", " () ( (", ")\n\n" },
		{ "perf-profile", "", "a 1/1 1.0: 1 e: \n\t10 f (b)\n\n", "" },
		{ "perf-profile", "a 1/1 1.0: 1 e: \n", "\t10 f (b)\n", "\n" },
		{ "perf-profile", "", "1.0 1.0: ", "\n" },
		{ "turbostat", "", "CPU Avg_MHz A B C D E F\n", "" },
		{ "turbostat", "CPU Avg_MHz", " A", "\n" },
		{ "perf-stat", "", "1.5,/,", "\n" },
		{ "mpstat", "10:00:00 CPU %usr\n", "10:00:01 all 1.0\n", "" },
		{ "mpstat", "", "10:00:00 CPU %usr\n", "" },
		{ "proc-vmstat", "", "#sample 1\n", "" },
		{ "proc-vmstat", "#sample 1\n", "#file /proc/vmstat\nx 1\n", "" },
		{ "interrupts", "#sample 1\n#file /proc/interrupts\n", "CPU1 ", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf b = STRBUF_INIT;
		struct suite_output out;

		strbuf_addstr(&b, cases[i].start);
		while (b.len < (size_t)2 << 20)
			strbuf_addstr(&b, cases[i].part);
		strbuf_addstr(&b, cases[i].end);
		recording_parse(cases[i].monitor, b.s, b.len, 1, &out);
		suite_output_done(&out);
		strbuf_done(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_recordings_give_nothing_wrong),
		cmocka_unit_test(counters_of_cut_files_are_missing),
		cmocka_unit_test(survives_thousands_of_mutations),
		cmocka_unit_test(every_monitor_survives_the_recordings_of_all),
		cmocka_unit_test(names_are_limited),
		cmocka_unit_test(long_lines_are_survived),
		cmocka_unit_test(time_grows_with_length_only),
	};

	return cmocka_run_group_tests_name("monitors: damage", tests, NULL, NULL);
}
