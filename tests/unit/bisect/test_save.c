/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bisect/bisect.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct bisect_graph g;
	struct bisect_state s;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct bisect_params p = bisect_params_default();
	struct err e = { 0 };

	p.step = -0.04;
	p.max_runs = 77;
	p.check_drift = true;
	p.step_least = 0.02;
	assert_non_null(f);
	assert_ok(bisect_graph_add_line(&f->g, 9, &e), &e);
	assert_ok(bisect_graph_prepare(&f->g, &e), &e);
	assert_ok(bisect_init(&f->s, &f->g, &p, &e), &e);
	assert_ok(bisect_add_run(&f->s, BISECT_GOOD_END, 1, 1.0 / 3, &e), &e);
	assert_ok(bisect_add_run(&f->s, 8, 2, 0.29, &e), &e);
	assert_ok(bisect_add_run(&f->s, 4, 3, 0.33, &e), &e);
	assert_ok(bisect_skip(&f->s, 5, BISECT_SKIP_BOOT, &e), &e);
	assert_ok(bisect_mark_built(&f->s, 6, &e), &e);
	assert_ok(bisect_set_prior(&f->s, 2, 0.1, &e), &e);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	bisect_done(&f->s);
	bisect_graph_done(&f->g);
	free(f);
	return 0;
}

static void comes_back_the_same(void **state)
{
	struct fixture *f = *state;
	struct bisect_state again;
	struct err e = { 0 };
	double p[9], q[9];
	char *text = bisect_save(&f->s);
	char *second;

	assert_ok(bisect_load(&again, &f->g, text, &e), &e);
	second = bisect_save(&again);
	assert_string_equal(text, second);
	assert_int_equal(again.params.max_runs, 77);
	assert_true(again.params.check_drift);
	assert_true(again.params.step_least == 0.02);
	assert_int_equal(again.last_built, 6);
	assert_int_equal(again.skip[5], BISECT_SKIP_BOOT);
	bisect_posterior(&f->s, p, NULL);
	bisect_posterior(&again, q, NULL);
	assert_memory_equal(p, q, sizeof(p));
	bisect_done(&again);
	free(text);
	free(second);
}

static void refuse(struct fixture *f, const char *text, int code)
{
	struct bisect_state again;
	struct err e = { 0 };

	memset(&again, 0x5a, sizeof(again));
	assert_err(bisect_load(&again, &f->g, text, &e), code, &e);
	assert_int_equal(*(unsigned char *)&again, 0x5a);
}

static void replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from);

	assert_non_null(at);
	assert_int_equal(strlen(from), strlen(to));
	memcpy(at, to, strlen(to));
}

static void refuses_what_it_does_not_know(void **state)
{
	static const struct {
		const char *from, *to;
		int code;
	} cases[] = {
		{ "bisect/1", "bisect/9", ERR_FORMAT },
		{ "\"sigma\"", "\"sigmo\"", ERR_PARSE },
		{ "\"max_runs\":77", "\"max_runs\":-7", ERR_PARSE },
		{ "\"skip\":\"boot\"", "\"skip\":\"boat\"", ERR_PARSE },
		{ "\"boot\":2", "\"boat\":2", ERR_PARSE },
		{ "\"commit\":\"good\"", "\"commit\":\"gold\"", ERR_NOENT },
		{ "\"last_built\"", "\"last_bulit\"", ERR_PARSE },
	};
	struct fixture *f = *state;

	refuse(f, "", ERR_PARSE);
	refuse(f, "[]", ERR_PARSE);
	refuse(f, "{}", ERR_FORMAT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = bisect_save(&f->s);

		replace(text, cases[i].from, cases[i].to);
		refuse(f, text, cases[i].code);
		free(text);
	}
}

static void refuses_every_cut_text(void **state)
{
	struct fixture *f = *state;
	char *text = bisect_save(&f->s);

	for (size_t n = strlen(text); n-- > 0;) {
		text[n] = '\0';
		refuse(f, text, ERR_PARSE);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_the_same),
		cmocka_unit_test(refuses_what_it_does_not_know),
		cmocka_unit_test(refuses_every_cut_text),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
