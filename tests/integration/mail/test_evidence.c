/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/report_evidence.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/store/comparison.h"
#include "tests/integration/web/fixture.h"
#include "tests/pg.h"
#include "tests/test.h"

#include <string.h>

static struct err e;

static int start(void **state)
{
	if (pg_start(state))
		return -1;
	fixture_fill();
	return 0;
}

/* What is added to a report about the headline of comparison @id; @evidence: SQL of what it says. */
static json_t *evidence_of(int64_t id, const char *evidence)
{
	char metric[] = "will-it-scale.per_process_ops";
	struct regression reg = { .comparison = id, .metric = metric };
	json_t *out = json_pack("{s:{s:{},s:{}}}", "effect", "base", "head");
	char *sql = NULL;

	if (evidence) {
		sql = xasprintf("UPDATE comparison SET evidence = %s WHERE id = %lld", evidence,
				(long long)id);
		pg_exec(sql);
		free(sql);
	}
	assert_ok(report_evidence(pg_db(), &reg, out, &e), &e);
	return out;
}

#define CHECK(name, ok) \
	"{\"name\":\"" name "\",\"rel\":0.001,\"lo\":-0.004,\"hi\":0.006,\"ok\":" ok "}"
#define EVIDENCE(checks, sides)                                                 \
	"'{\"findings\":[{\"headline\":\"other\",\"checks\":[]},{\"headline\":" \
	"\"will-it-scale.per_process_ops\",\"checks\":[" checks                 \
	"]}],\"metrics\":[{\"name\":\"x\"},"                                    \
	"{\"name\":\"will-it-scale.per_process_ops\"," sides "}]}'"
#define UNITS(base, head) "\"base\":{\"units\":" base "},\"head\":{\"units\":" head "}"

static const char *check_name(const json_t *out, size_t i)
{
	return json_str(json_array_get(json_object_get(out, "checks"), i), "name", "");
}

static void the_later_check_speaks_where_all_is_well(void **state)
{
	_cleanup_(json_decrefp) json_t *out = evidence_of(
		1, EVIDENCE(CHECK("aa", "true") "," CHECK("bb", "true") "," CHECK("again", "true"),
			    UNITS("8", "9")));
	const json_t *c = json_array_get(json_object_get(out, "checks"), 0);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(out, "checks")), 1);
	assert_string_equal(check_name(out, 0), "again");
	assert_string_equal(json_str(c, "commit", ""), H_BASE);
	assert_true(json_is_true(json_object_get(c, "same_day")));
	assert_true(json_is_true(json_object_get(out, "one_peak")));
	assert_null(json_object_get(out, "found"));
}

static void a_failed_check_is_always_told(void **state)
{
	_cleanup_(json_decrefp) json_t *out = evidence_of(
		1,
		EVIDENCE(CHECK("aa", "false") "," CHECK("bb", "false") "," CHECK("again", "true"),
			 UNITS("8", "7")));

	(void)state;
	assert_int_equal(json_array_size(json_object_get(out, "checks")), 3);
	assert_string_equal(check_name(out, 0), "again");
	assert_string_equal(check_name(out, 1), "aa");
	assert_string_equal(check_name(out, 2), "bb");
	/* Seven boots do not say that there is one peak. */
	assert_null(json_object_get(out, "one_peak"));
}

static void modes_go_to_their_side(void **state)
{
	_cleanup_(json_decrefp) json_t *out = evidence_of(
		1, EVIDENCE("", "\"base\":{\"units\":9},\"head\":{\"units\":9,\"modes\":["
				"{\"share\":0.75,\"center\":1},{\"share\":0.25,\"center\":2}]}"));
	const json_t *effect = json_object_get(out, "effect");

	(void)state;
	assert_null(json_object_get(json_object_get(effect, "base"), "modes"));
	assert_int_equal(json_array_size(json_object_get(json_object_get(effect, "head"), "modes")),
			 2);
	assert_null(json_object_get(out, "one_peak"));
}

static void a_step_of_the_history_is_said(void **state)
{
	_cleanup_(json_decrefp) json_t *out = evidence_of(3, NULL);

	(void)state;
	assert_string_equal(json_str(out, "found", ""), "history");
}

static void evidence_that_is_none_adds_nothing(void **state)
{
	static const char *const none[] = { "NULL", "'7'", "'{\"findings\":7,\"metrics\":\"x\"}'",
					    "'{\"findings\":[7,{\"headline\":"
					    "\"will-it-scale.per_process_ops\",\"checks\":{}}],"
					    "\"metrics\":[[]]}'" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		_cleanup_(json_decrefp) json_t *out = evidence_of(1, none[i]);

		assert_int_equal(json_array_size(json_object_get(out, "checks")), 0);
		assert_null(json_object_get(out, "one_peak"));
	}
	{
		_cleanup_(json_decrefp) json_t *out = evidence_of(99999, NULL);

		assert_int_equal(json_object_size(out), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_later_check_speaks_where_all_is_well),
		cmocka_unit_test(a_failed_check_is_always_told),
		cmocka_unit_test(modes_go_to_their_side),
		cmocka_unit_test(a_step_of_the_history_is_said),
		cmocka_unit_test(evidence_that_is_none_adds_nothing),
	};

	return cmocka_run_group_tests(tests, start, pg_stop);
}
