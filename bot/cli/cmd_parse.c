/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot parse: raw output of a benchmark in, metrics out. */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/cli/cli.h"
#include "bot/cli/metric_print.h"
#include "bot/cli/options.h"
#include "runners/suites/suite.h"

#include <string.h>

#define OUTPUT_MAX ((size_t)512 << 20)

/* What the command line asks for; test is the parameter of that name. */
struct request {
	const struct suite *suite;
	const char *test;
	VEC(struct suite_param) params;
};

static void request_done(struct request *q)
{
	vec_foreach (p, &q->params) {
		free(p->key);
		free(p->value);
	}
	vec_done(&q->params);
}

static int take_param(void *to, const char *word, struct err *e)
{
	struct request *q = to;
	char *eq = strchr(word, '=');

	if (!eq || eq == word)
		return err_set(e, ERR_PARSE, "'%.80s' is not KEY=VALUE", word);
	if (!strncmp(word, "test=", 5)) {
		q->test = eq + 1;
		return 0;
	}
	vec_push(&q->params, ((struct suite_param){ .key = xstrndup(word, (size_t)(eq - word)),
						    .value = xstrdup(eq + 1) }));
	return 0;
}

/* Return: index of SUITE in argv, or -1 after a usage message. */
static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	const struct cli_option options[] = { CLI_TAKE("param", take_param, q) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));
	struct err e = { 0 };

	if (at < 0)
		return -1;
	if (argc - at < 2) {
		(void)cli_usage(cli, "want a suite and a file");
		return -1;
	}
	q->suite = suite_find(argv[at]);
	if (!q->suite) {
		(void)cli_usage(cli, "no suite '%.80s'; there are %s", argv[at], suite_names());
		return -1;
	}
	if ((q->test && suite_check_test(q->suite, q->test, &e) < 0) ||
	    suite_check_params(q->suite, q->params.items, q->params.len, &e) < 0) {
		(void)cli_usage(cli, "%s", e.msg);
		return -1;
	}
	return at;
}

static const struct suite_metric *headline_of(const struct suite_output *out)
{
	for (size_t i = 0; i < out->n; i++)
		if (out->metrics[i].headline)
			return &out->metrics[i];
	return NULL;
}

/* @file: NULL where there is only one. */
static void print_json(const struct request *q, const char *file, const struct suite_output *out)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *metrics = json_array(), *series = json_array(), *problems = json_array();
	const struct suite_metric *headline = headline_of(out);

	json_set_str(o, "format", "kperfbot-metrics/1");
	json_set_str(o, "suite", suite_name(q->suite));
	json_set_str(o, "file", file);
	for (size_t i = 0; i < out->n; i++)
		(void)json_array_append_new(metrics, metric_json(&out->metrics[i]));
	for (size_t i = 0; headline && i < headline->series_n; i++)
		(void)json_array_append_new(series, number_json(headline->series[i]));
	for (size_t i = 0; i < out->problems_n; i++)
		(void)json_array_append_new(problems, problem_json(&out->problems[i]));
	(void)json_object_set_new(o, "metrics", metrics);
	(void)json_object_set_new(o, "series", series);
	(void)json_object_set_new(o, "problems", problems);
	text = json_text(o);
	(void)printf("%s\n", text);
}

/* Return: 1 with a headline metric, 0 without, or a negative ERR_ value. */
static int parse_file(const struct cli *cli, const struct request *q, const char *file, bool only,
		      struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct suite_output out;
	int r;

	r = file_read(file, OUTPUT_MAX, &text, e);
	if (r < 0)
		return r;
	r = suite_parse(q->suite, q->test, strbuf_str(&text), text.len, q->params.items,
			q->params.len, &out, e);
	if (r < 0)
		return r;
	if (!cli->json && !only)
		(void)printf("%s:\n", file);
	if (cli->json)
		print_json(q, only ? NULL : file, &out);
	else
		metrics_print(cli, file, &out);
	r = headline_of(&out) != NULL;
	suite_output_done(&out);
	return r;
}

int cmd_parse(struct cli *cli, int argc, char **argv)
{
	_cleanup_(request_done) struct request q = { 0 };
	struct err e = { 0 };
	int at, code = EXIT_DONE;

	at = parse_options(cli, argc, argv, &q);
	if (at < 0)
		return EXIT_USAGE;
	for (int i = at + 1; i < argc; i++) {
		int r = parse_file(cli, &q, argv[i], at + 2 == argc, &e);

		if (r < 0) {
			(void)cli_fail(cli, &e);
			return EXIT_FATAL;
		}
		if (r == 0)
			code = EXIT_WORSE;
	}
	return code;
}
