/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot monitors: what is recorded beside a run, and what a recording says. */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/metric_print.h"
#include "bot/cli/options.h"
#include "runners/monitors/monitor.h"

#include <string.h>

#define RECORDING_MAX ((size_t)256 << 20)

/* @run.span_s: 0 where the recording shall tell. */
struct request {
	const struct monitor *m;
	struct monitor_run run;
};

static const char *how_name(enum monitor_how how)
{
	switch (how) {
	case MONITOR_RUSAGE:
		return "rusage";
	case MONITOR_ENDS:
		return "ends";
	case MONITOR_SAMPLES:
		return "samples";
	case MONITOR_SLOW:
		return "slow";
	case MONITOR_PROGRAM:
		break;
	}
	return "program";
}

static int list(const struct cli *cli)
{
	_cleanup_(json_decrefp) json_t *all = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *monitors = json_array();
	const struct monitor *m;

	for (size_t i = 0; (m = monitor_list(i)); i++) {
		json_t *o = json_object();

		if (!cli->json)
			(void)printf("%c %-13s %-8s %s\n", m->cheap ? '*' : ' ', m->name,
				     how_name(m->how), m->about);
		json_set_str(o, "name", m->name);
		json_set_str(o, "how", how_name(m->how));
		json_set_bool(o, "default", m->cheap);
		json_set_str(o, "files", *m->files ? m->files : NULL);
		json_set_str(o, "about", m->about);
		(void)json_array_append_new(monitors, o);
	}
	json_set_str(all, "format", "kperfbot-monitors/1");
	(void)json_object_set_new(all, "monitors", monitors);
	text = json_text(all);
	if (cli->json)
		(void)printf("%s\n", text);
	return EXIT_DONE;
}

static void print_json(const struct request *q, const char *file, const struct suite_output *out)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) char *text = NULL;
	json_t *metrics = json_array(), *problems = json_array();

	json_set_str(o, "format", "kperfbot-metrics/1");
	json_set_str(o, "monitor", q->m->name);
	json_set_str(o, "file", file);
	for (size_t i = 0; i < out->n; i++) {
		const struct suite_metric *m = &out->metrics[i];
		json_t *metric = metric_json(m), *series = json_array();

		for (size_t k = 0; k < m->series_n; k++)
			(void)json_array_append_new(series, number_json(m->series[k]));
		if (m->series_n)
			(void)json_object_set(metric, "series", series);
		json_decref(series);
		(void)json_array_append_new(metrics, metric);
	}
	for (size_t i = 0; i < out->problems_n; i++)
		(void)json_array_append_new(problems, problem_json(&out->problems[i]));
	(void)json_object_set_new(o, "metrics", metrics);
	(void)json_object_set_new(o, "problems", problems);
	text = json_text(o);
	(void)printf("%s\n", text);
}

/* Return: 1 with a metric, 0 without, or a negative ERR_ value. */
static int parse_file(const struct cli *cli, const struct request *q, const char *file, bool only,
		      struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_(json_decrefp) json_t *usage = NULL;
	struct monitor_run run = q->run;
	struct suite_output out = { 0 };
	int r;

	r = file_read(file, RECORDING_MAX, &text, e);
	if (r < 0)
		return r;
	if (!(run.span_s > 0))
		run.span_s = monitor_span(strbuf_str(&text), text.len);
	if (q->m->how == MONITOR_RUSAGE) {
		r = json_read(strbuf_str(&text), text.len, file, &usage, e);
		if (r < 0)
			return r;
		monitor_parse_rusage(usage, &run, &out);
	} else {
		monitor_parse(q->m, strbuf_str(&text), text.len, &run, &out);
	}
	if (!cli->json && !only)
		(void)printf("%s:\n", file);
	if (cli->json)
		print_json(q, only ? NULL : file, &out);
	else
		metrics_print(cli, file, &out);
	r = out.n > 0;
	suite_output_done(&out);
	return r;
}

static int parse(struct cli *cli, const struct request *q, char **files, int n)
{
	struct err e = { 0 };
	int code = EXIT_DONE;

	for (int i = 0; i < n; i++) {
		int r = parse_file(cli, q, files[i], n == 1, &e);

		if (r < 0) {
			(void)cli_fail(cli, &e);
			return EXIT_FATAL;
		}
		if (r == 0)
			code = EXIT_WORSE;
	}
	return code;
}

int cmd_monitors(struct cli *cli, int argc, char **argv)
{
	struct request q = { 0 };
	const struct cli_option options[] = { CLI_SECONDS("span", &q.run.span_s),
					      CLI_F64("work", &q.run.work, 0, 1e18) };
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (at == argc || (at + 1 == argc && !strcmp(argv[at], "list")))
		return list(cli);
	if (strcmp(argv[at], "parse") != 0)
		return cli_usage(cli, "'%.80s' is neither list nor parse", argv[at]);
	if (argc - at < 3)
		return cli_usage(cli, "want a monitor and a file");
	q.m = monitor_find(argv[at + 1]);
	if (!q.m)
		return cli_usage(cli, "no monitor '%.80s'; there are %s", argv[at + 1],
				 monitor_names());
	return parse(cli, &q, argv + at + 2, argc - at - 2);
}
