/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot suites as a program. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static int run(const char *words, struct strbuf *ret)
{
	_cleanup_(freep) char *line =
		xasprintf("'" TEST_BIN_DIR "/kperfbot' suites %s 2>&1", words);
	FILE *f = popen(line, "re"); /* NOLINT(cert-env33-c): our own words */
	char buf[4096];
	int status;
	size_t n;

	strbuf_reset(ret);
	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_add(ret, buf, n);
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check_texts(const json_t *list, const char *key, const char *const *also)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		if (!*json_str(o, key, ""))
			fail_msg("no %s", key);
		for (const char *const *a = also; *a; a++)
			if (!*json_str(o, *a, ""))
				fail_msg("%s has no %s", json_str(o, key, ""), *a);
	}
}

/* will-it-scale and vm-scalability have tests whose names say it all. */
static void everything_listed_is_explained(void **state)
{
	static const char *const about[] = { "about", NULL }, *const none[] = { NULL };
	static const char *const param[] = { "about", "fallback", NULL };
	static const char *const metric[] = { "about", "unit", "better", "kind", NULL };
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };
	const json_t *s;
	size_t i;

	(void)state;
	assert_int_equal(run("--json", &out), 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-suites/1");
	assert_true(json_array_size(json_object_get(j, "suites")) >= 19);
	json_array_foreach (json_object_get(j, "suites"), i, s) {
		bool bundled = json_is_true(json_object_get(s, "bundled"));
		const json_t *metrics = json_object_get(s, "metrics");
		const json_t *m;
		size_t k, headlines = 0;

		assert_true(*json_str(s, "about", "") != '\0');
		check_texts(json_object_get(s, "tests"), "name", bundled ? none : about);
		check_texts(json_object_get(s, "params"), "key", param);
		check_texts(metrics, "name", metric);
		json_array_foreach (metrics, k, m) {
			const char *name = json_str(s, "name", "");

			assert_memory_equal(json_str(m, "name", ""), name, strlen(name));
			assert_true(json_str(m, "name", "")[strlen(name)] == '.');
			headlines += json_is_true(json_object_get(m, "headline"));
		}
		assert_true(headlines > 0);
	}
}

static void shows_one_suite_as_text_and_json(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run("show pft", &out), 0);
	assert_non_null(strstr(out.s, "* pft.faults_per_sec_per_cpu, faults/s, better: higher"));
	assert_non_null(strstr(out.s, "process, thread"));
	assert_int_equal(run("show exec --json", &out), 0);
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "format", ""), "kperfbot-suite/1");
	assert_int_equal(json_array_size(json_object_get(j, "tests")), 0);
}

static void the_short_list_has_a_line_for_each(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("list", &out), 0);
	assert_non_null(strstr(out.s, "will-it-scale "));
	assert_non_null(strstr(out.s, "\nstress-ng "));
	assert_non_null(strstr(out.s, "\nexec "));
}

static void wrong_usage_is_exit_code_129(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(run("show lmbench4", &out), 129);
	assert_non_null(strstr(out.s, "lmbench3"));
	assert_int_equal(run("show", &out), 129);
	assert_int_equal(run("tell me", &out), 129);
	assert_int_equal(run("--yaml", &out), 129);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_listed_is_explained),
		cmocka_unit_test(shows_one_suite_as_text_and_json),
		cmocka_unit_test(the_short_list_has_a_line_for_each),
		cmocka_unit_test(wrong_usage_is_exit_code_129),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
