/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/metric_print.h"

#include "bot/base/json.h"
#include "bot/cli/cli.h"
#include "runners/suites/suite.h"

#include <math.h>

json_t *number_json(double v)
{
	if (fabs(v) < 9e15 && trunc(v) == v)
		return json_integer((json_int_t)v);
	return json_real(v);
}

json_t *metric_json(const struct suite_metric *m)
{
	json_t *o = json_object();

	json_set_str(o, "name", m->name);
	json_set_str(o, "unit", m->unit);
	json_set_str(o, "better", metric_better_name(m->better));
	json_set_str(o, "kind", metric_kind_name(m->kind));
	json_set_bool(o, "headline", m->headline);
	(void)json_object_set_new(o, "value", number_json(m->value));
	return o;
}

json_t *problem_json(const struct suite_problem *p)
{
	json_t *o = json_object();

	json_set_i64(o, "line", p->line);
	json_set_i64(o, "byte", (int64_t)p->byte);
	json_set_str(o, "text", p->text);
	return o;
}

void metrics_print(const struct cli *cli, const char *file, const struct suite_output *out)
{
	for (size_t i = 0; i < out->n; i++)
		(void)printf("%c %-36s %16.15g %s\n", out->metrics[i].headline ? '*' : ' ',
			     out->metrics[i].name, out->metrics[i].value, out->metrics[i].unit);
	for (size_t i = 0; i < out->problems_n; i++)
		cli_note(cli, "%s:%u: %s", file, out->problems[i].line, out->problems[i].text);
}
