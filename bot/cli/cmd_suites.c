/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot suites: what there is to run, which parameters it takes, what its metrics mean. */
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "runners/suites/suite.h"

#include <string.h>

static const char *source_name(const struct suite *s)
{
	return suite_source(s) == SOURCE_STDERR ? "stderr" : "stdout";
}

static size_t count_tests(const struct suite *s)
{
	size_t n = 0;

	while (suite_test(s, n))
		n++;
	return n;
}

static json_t *tests_json(const struct suite *s)
{
	json_t *tests = json_array();
	const char *name;

	for (size_t i = 0; (name = suite_test(s, i)); i++) {
		json_t *o = json_object();

		json_set_str(o, "name", name);
		json_set_str(o, "about", suite_test_about(s, i));
		json_set_str(o, "headline", suite_headline(s, name, NULL, 0));
		(void)json_array_append_new(tests, o);
	}
	return tests;
}

static json_t *params_json(const struct suite *s)
{
	json_t *params = json_array();
	struct suite_param_info p;

	for (size_t i = 0; suite_param_info(s, i, &p); i++) {
		json_t *o = json_object();
		json_t *choices = p.choices ? json_array() : NULL;

		json_set_str(o, "key", p.key);
		json_set_str(o, "about", p.about);
		json_set_str(o, "fallback", p.fallback);
		for (const char *const *c = p.choices; c && *c; c++)
			(void)json_array_append_new(choices, json_string(*c));
		if (choices)
			(void)json_object_set_new(o, "choices", choices);
		(void)json_array_append_new(params, o);
	}
	return params;
}

static json_t *metrics_json(const struct suite *s)
{
	json_t *metrics = json_array();
	struct suite_metric_info m;

	for (size_t i = 0; suite_metric_info(s, i, &m); i++) {
		json_t *o = json_object();

		json_set_str(o, "name", m.name);
		json_set_str(o, "unit", m.unit);
		json_set_str(o, "better", metric_better_name(m.better));
		json_set_str(o, "kind", metric_kind_name(m.kind));
		json_set_bool(o, "headline", m.headline);
		json_set_str(o, "about", m.about);
		(void)json_array_append_new(metrics, o);
	}
	return metrics;
}

static json_t *suite_json(const struct suite *s)
{
	json_t *o = json_object();
	bool per_second;
	const char *work = suite_work(s, &per_second);

	json_set_str(o, "name", suite_name(s));
	json_set_str(o, "about", suite_about(s));
	json_set_bool(o, "bundled", suite_is_bundled(s));
	json_set_str(o, "output", source_name(s));
	json_set_str(o, "work", work);
	if (work)
		json_set_bool(o, "work_per_second", per_second);
	(void)json_object_set_new(o, "tests", tests_json(s));
	(void)json_object_set_new(o, "params", params_json(s));
	(void)json_object_set_new(o, "metrics", metrics_json(s));
	return o;
}

static void list(const struct cli *cli)
{
	_cleanup_(json_decrefp) json_t *all = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *suites = json_array();
	const struct suite *s;

	for (size_t i = 0; (s = suite_list(i)); i++) {
		if (cli->json)
			(void)json_array_append_new(suites, suite_json(s));
		else
			(void)printf("%-28s %3zu tests  %s\n", suite_name(s), count_tests(s),
				     suite_about(s));
	}
	json_set_str(all, "format", "kperfbot-suites/1");
	(void)json_object_set_new(all, "suites", suites);
	text = json_text(all);
	if (cli->json)
		(void)printf("%s\n", text);
}

static void show_tests(const struct suite *s)
{
	const char *name;

	(void)printf("\ntests:\n");
	if (!suite_test(s, 0))
		(void)printf("  any name\n");
	for (size_t i = 0; (name = suite_test(s, i)); i++)
		(void)printf("  %-18s %s\n", name,
			     suite_test_about(s, i) ? suite_test_about(s, i) : "");
}

static void show(const struct suite *s)
{
	struct suite_param_info p;
	struct suite_metric_info m;
	bool per_second;
	const char *work = suite_work(s, &per_second);

	(void)printf("%s: %s\n", suite_name(s), suite_about(s));
	if (work)
		(void)printf("work: %s%s\n", work, per_second ? ", per second" : "");
	show_tests(s);
	(void)printf("\nparameters:\n");
	for (size_t i = 0; suite_param_info(s, i, &p); i++) {
		(void)printf("  %-18s %s", p.key, p.about);
		for (const char *const *c = p.choices; c && *c; c++)
			(void)printf("%s%s", c == p.choices ? ": " : ", ", *c);
		(void)printf(" (default: %s)\n", p.fallback);
	}
	(void)printf("\nmetrics, * for headlines:\n");
	for (size_t i = 0; suite_metric_info(s, i, &m); i++)
		(void)printf("%c %s, %s, better: %s, %s\n    %s\n", m.headline ? '*' : ' ', m.name,
			     m.unit, metric_better_name(m.better), metric_kind_name(m.kind),
			     m.about);
}

/* scdoc reads these as markup. */
static void add_escaped(struct strbuf *b, const char *s)
{
	for (; *s; s++)
		strbuf_addf(b, strchr("*_\\<>[]#~", *s) ? "\\%c" : "%c", *s);
}

static void add_item(struct strbuf *b, const char *name, const char *rest)
{
	strbuf_addstr(b, "*");
	add_escaped(b, name);
	strbuf_addstr(b, "*\n\t");
	add_escaped(b, rest);
	strbuf_addstr(b, "\n\n");
}

static void add_suite(struct strbuf *b, const struct suite *s)
{
	struct suite_param_info p;
	struct suite_metric_info m;
	const char *name;

	strbuf_addf(b, "# %s\n\n", suite_name(s));
	add_escaped(b, suite_about(s));
	strbuf_addstr(b, "\n\n## Tests\n\n");
	if (!suite_test(s, 0))
		strbuf_addstr(b, "Any name.\n\n");
	for (size_t i = 0; (name = suite_test(s, i)); i++)
		add_item(b, name, suite_test_about(s, i) ? suite_test_about(s, i) : "");
	strbuf_addstr(b, "## Parameters\n\n");
	for (size_t i = 0; suite_param_info(s, i, &p); i++) {
		_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

		strbuf_addstr(&text, p.about);
		for (const char *const *c = p.choices; c && *c; c++)
			strbuf_addf(&text, "%s%s", c == p.choices ? ": " : ", ", *c);
		strbuf_addf(&text, ". Default: %s.", p.fallback);
		add_item(b, p.key, strbuf_str(&text));
	}
	strbuf_addstr(b, "## Metrics\n\n");
	for (size_t i = 0; suite_metric_info(s, i, &m); i++) {
		_cleanup_(freep) char *text =
			xasprintf("%s In %s; better: %s.%s", m.about, m.unit,
				  metric_better_name(m.better), m.headline ? " Headline." : "");

		add_item(b, m.name, text);
	}
}

static void manual(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const struct suite *s;

	for (size_t i = 0; (s = suite_list(i)); i++)
		add_suite(&b, s);
	(void)fputs(strbuf_str(&b), stdout);
}

int cmd_suites(struct cli *cli, int argc, char **argv)
{
	const struct suite *s;
	int at = cli_options(cli, argc, argv, NULL, 0);

	if (at < 0)
		return EXIT_USAGE;
	argc -= at;
	argv += at;
	if (argc == 0 || (argc == 1 && !strcmp(argv[0], "list"))) {
		list(cli);
	} else if (argc == 1 && !strcmp(argv[0], "man")) {
		manual();
	} else if (argc == 2 && !strcmp(argv[0], "show")) {
		s = suite_find(argv[1]);
		if (!s)
			return cli_usage(cli, "no suite '%.80s'; there are %s", argv[1],
					 suite_names());
		if (cli->json) {
			_cleanup_(json_decrefp) json_t *o = suite_json(s);
			_cleanup_(freep) char *text = NULL;

			json_set_str(o, "format", "kperfbot-suite/1");
			text = json_text(o);
			(void)printf("%s\n", text);
		} else {
			show(s);
		}
	} else {
		return cli_usage(cli, "say 'list', 'show SUITE' or 'man'");
	}
	return EXIT_DONE;
}
