/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The captured outputs in tests/data/outputs, and what is known about them. */
#pragma once

#include "runners/suites/suite.h"

struct output_case {
	const char *file, *suite, *test;
	/* "nr_task=2 mode=process" */
	const char *params;
};

/** output_cases - all of the files; ends with a NULL file. */
extern const struct output_case output_cases[];

struct output_params {
	char text[128];
	struct suite_param items[8];
	size_t n;
};

/** output_params_init() - split "k=v k=v". */
void output_params_init(struct output_params *p, const char *words);

/** output_read() - the bytes of a file in tests/data/outputs, with a NUL behind; free() it. */
char *output_read(const char *file, size_t *ret_len);

/** output_parse() - suite_parse() of bytes with the parameters of @c, must not fail. */
void output_parse(const struct output_case *c, const char *text, size_t len,
		  struct suite_output *ret);

/** output_find() - the case of @file. */
const struct output_case *output_find(const char *file);
