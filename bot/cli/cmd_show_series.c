/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/cmd_show_series.h"

#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"

#include <math.h>
#include <string.h>

enum {
	VALUES_MAX = 20
};

static void show_change(const struct cli *cli, const json_t *c)
{
	cli_out("change    %.12s ", json_str(c, "first", ""));
	cli_state(cli, json_str(c, "state", ""), 11);
	cli_out(" %+.1f%%  p %.2g", 100 * json_f64(c, "rel", NAN), json_f64(c, "p", NAN));
	if (json_i64(c, "comparison", 0))
		cli_out("  comparison %lld", (long long)json_i64(c, "comparison", 0));
	if (json_is_number(json_object_get(c, "measured")))
		cli_out(", measured again %+.1f%%", 100 * json_f64(c, "measured", NAN));
	if (json_str(c, "regression", NULL))
		cli_out("  %s", json_str(c, "regression", ""));
	if (json_str(c, "why", NULL))
		cli_out("  %.100s", json_str(c, "why", ""));
	cli_out("  %.60s\n", json_str(c, "title", ""));
}

static void show_point(const json_t *p)
{
	double median = json_f64(p, "median", NAN);

	cli_out("%.12s  ", json_str(p, "commit", ""));
	if (isfinite(median))
		cli_out("%12.8g  %2lld boots", median, (long long)json_i64(p, "n", 0));
	else
		cli_out("%12s          ", "-");
	cli_out("  %.60s\n", json_str(p, "title", ""));
}

void show_series(const struct cli *cli, const json_t *j)
{
	const json_t *metric = json_object_get(j, "metric"), *x;
	const json_t *points = json_object_get(j, "points");
	size_t n = json_array_size(points), i;

	cli_out("%s %s, %s\n", json_str(j, "id", ""), json_str(metric, "name", ""),
		json_str(metric, "unit", ""));
	cli_out("where     %s %s, job %s on %s\n", json_str(j, "tree", ""),
		json_str(j, "branch", ""), json_str(j, "job", ""), json_str(j, "machine", ""));
	json_array_foreach (json_object_get(j, "levels"), i, x)
		cli_out("level     %.8g +- %.2g%% from %.12s to %.12s, %lld commits\n",
			json_f64(x, "center", NAN),
			100 * fabs(json_f64(x, "sd", NAN) / json_f64(x, "center", NAN)),
			json_str(x, "first", ""), json_str(x, "last", ""),
			(long long)json_i64(x, "commits", 0));
	json_array_foreach (json_object_get(j, "changes"), i, x)
		show_change(cli, x);
	for (i = n > VALUES_MAX ? n - VALUES_MAX : 0; i < n; i++)
		show_point(json_array_get(points, i));
}
