/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verb as people and scripts call it. */
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct strbuf out;

/* Runs `kperfbot power WORDS`; @out is what the words leave on stdout. Return: exit code. */
static int power(const char *words)
{
	_cleanup_(freep) char *line = xasprintf("'" TEST_BIN_DIR "/kperfbot' power %s", words);
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

static void says(const char *words, int code, const char *text)
{
	int got = power(words);

	if (!strstr(strbuf_str(&out), text))
		fail_msg("power %s: '%s' is not in: %s", words, text, strbuf_str(&out));
	if (got != code)
		fail_msg("power %s exits with %d, not %d", words, got, code);
}

static void prints_the_one_that_is_missing(void **state)
{
	(void)state;
	says("--noise .875% --runs 6", 0,
	     "with this noise, 6 runs a side see 2.1 % (level 99 %, power 80 %)\n");
	says("--noise 1% --effect 3.8%", 0, "with this noise, it takes 4 runs a side to see 3.8 %");
	says("--noise 1% --effect=-3.8%", 0,
	     "with this noise, it takes 4 runs a side to see -3.8 %");
	says("--noise 1% --boot-noise .5% --boots 8 --effect 2%", 0,
	     "it takes 12 runs on 8 boots a side to see 2 %");
	says("--runs 6 --effect 3.8%", 0, "6 runs a side see 3.8 % while the noise is at most");
	says("--noise 1% --runs 6 --effect 2%", 0, "see 2 % with probability 6");
	says("--noise 1% --runs 6 --effect 2% --power .8", 0, "see 2 % at level 97.0");
	says("--noise 1% --boot-noise 1% --runs 16 --effect 3% --power .8 --level .95", 0,
	     "16 runs on 4 boots a side to see 3 %");
	says("--noise 1% --runs 16 --boots 8 --effect 3% --power .8 --level .95", 0,
	     "while the boot noise is at most");
}

static void json_has_every_value(void **state)
{
	_cleanup_(json_decrefp) json_t *j = NULL;
	struct err e = { 0 };

	(void)state;
	says("--json --noise 1% --effect 3.8%", 0, "\"format\":\"kperfbot-power/1\"");
	assert_ok(json_read(out.s, out.len, "output", &j, &e), &e);
	assert_string_equal(json_str(j, "missing", ""), "runs");
	assert_int_equal(json_i64(j, "runs", 0), 4);
	assert_int_equal(json_i64(j, "units", 0), 4);
	assert_int_equal(json_i64(j, "df", 0), 0); /* a real number */
	assert_near(json_f64(j, "df", 0), 6, 1e-12);
	assert_true(json_f64(j, "reached", 0) >= .8);
	assert_near(json_f64(j, "level", 0), .99, 1e-12);
}

static void what_nothing_is_enough_for_is_a_no(void **state)
{
	(void)state;
	says("--noise 1% --boot-noise 2% --boots 4 --effect 1%", 1,
	     "even 100000 runs see 1 % with probability 2.17 % only\n");
	says("--json --noise 1% --boot-noise 2% --boots 4 --effect 1%", 1, "\"why\":\"even 100000");
	assert_null(strstr(strbuf_str(&out), "\"runs\":"));
}

static void wrong_usage_names_what_is_wrong(void **state)
{
	static const struct {
		const char *words;
		const char *text;
	} wrong[] = {
		{ "", "--noise and --runs and --effect are missing" },
		{ "--noise 1%", "--runs and --effect are missing; give all of them but one" },
		{ "--noise 1% --runs 6 --effect 2% --level 95% --power .8",
		  "none is left to find" },
		{ "--noise x --runs 6", "--noise: 'x' is not a fraction such as 0.038 or 3.8%" },
		{ "--noise nan --runs 6", "--noise: 'nan' is not" },
		{ "--noise 95 --runs 6", "noise 95 is not between 0 and 10" },
		{ "--noise -1% --runs 6", "noise -0.01 is not between" },
		{ "--noise 1% --runs 6.5", "--runs: '6.5'" },
		{ "--noise 1% --runs 0", "--runs: '0'" },
		{ "--noise 1% --runs 99999999999999999999", "--runs: '9999" },
		{ "--noise 1% --runs 6 --level 95", "level 95 must be more than 0.5" },
		{ "--noise 1% --runs 6 --power 1", "power 1 must be more than 0" },
		{ "--noise 1% --runs 6 --boots 7", "boots 7 is more than runs 6" },
		{ "--noise 1% --effect -100%", "effect -1 must be more than -1" },
		{ "--noise 1% --runs", "option '--runs' needs a value" },
		{ "--noise 1% --runs 6 more", "'more' is no option" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_(freep) char *words = xasprintf("%s 2>&1", wrong[i].words);

		says(words, 129, wrong[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_the_one_that_is_missing),
		cmocka_unit_test(json_has_every_value),
		cmocka_unit_test(what_nothing_is_enough_for_is_a_no),
		cmocka_unit_test(wrong_usage_names_what_is_wrong),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	strbuf_done(&out);
	return r;
}
