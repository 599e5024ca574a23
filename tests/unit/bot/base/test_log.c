/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/log.h"
#include "bot/base/utf8.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int saved = -1;
static int file = -1;
static char text[200000];

static int catch_stderr(void **state)
{
	(void)state;
	(void)unsetenv("JOURNAL_STREAM"); /* NOLINT(concurrency-mt-unsafe) */
	saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return dup2(file, STDERR_FILENO) < 0;
}

static int release_stderr(void **state)
{
	(void)state;
	(void)dup2(saved, STDERR_FILENO);
	(void)close(saved);
	(void)close(file);
	log_setup(NULL, LOG_LEVEL_INFO);
	return 0;
}

/* What was logged so far. */
static const char *logged(void)
{
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void fields_follow_the_message(void **state)
{
	struct err e = { 0 };

	(void)state;
	(void)err_set(&e, ERR_GIT, "no branch 'x'");
	log_warn("build failed, retrying", lf_i64("WORK_ID", -42), lf_str("COMMIT", "abc"),
		 lf_f64("DURATION_USEC", 1.5), lf_err(e));
	log_info("alone");
	log_error("nothing", lf_str("ERROR", NULL));
	assert_string_equal(logged(),
			    "<4>build failed, retrying WORK_ID=-42 COMMIT=abc DURATION_USEC=1.5 "
			    "ERROR=no branch 'x' ERR_CODE=GIT\n<6>alone\n<3>nothing ERROR=\n");
}

static void the_role_is_put_in_front_and_the_level_is_kept(void **state)
{
	(void)state;
	log_setup("watch", LOG_LEVEL_WARN);
	log_info("not shown");
	log_debug("not shown");
	log_warn("shown");
	log_error("shown too");
	assert_string_equal(logged(), "<4>watch: shown\n<3>watch: shown too\n");
}

static void hostile_values_cannot_make_a_second_line(void **state)
{
	char all[256];
	const char *s;
	size_t n;

	(void)state;
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = '\0';
	log_warn("m", lf_str("ERROR", all),
		 lf_str("PATH", "a\n<3>forged\r\033[2J\xc2\x9b"
				"31mé\x80"));
	s = logged();
	assert_int_equal(strcspn(s, "\n") + 1, strlen(s));
	assert_non_null(strstr(s, "a\\x0a<3>forged\\x0d\\x1b[2J\\x9b31mé\\x80"));
	for (size_t left = strlen(s) - 1; left; s += n, left -= n) {
		n = utf8_length(s, left);
		assert_true(n > 0);
		assert_true((unsigned char)*s >= 0x20);
	}
}

static void a_huge_value_is_cut(void **state)
{
	char *big = malloc(1 << 20);

	(void)state;
	memset(big, 'x', 1 << 20);
	big[(1 << 20) - 1] = '\0';
	log_warn("m", lf_str("ERROR", big));
	assert_true(strlen(logged()) < 5000);
	assert_non_null(strstr(text, "…\n"));
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fields_follow_the_message, catch_stderr,
						release_stderr),
		cmocka_unit_test_setup_teardown(the_role_is_put_in_front_and_the_level_is_kept,
						catch_stderr, release_stderr),
		cmocka_unit_test_setup_teardown(hostile_values_cannot_make_a_second_line,
						catch_stderr, release_stderr),
		cmocka_unit_test_setup_teardown(a_huge_value_is_cut, catch_stderr, release_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
