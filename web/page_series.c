/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/store/page_read.h"
#include "web/csv.h"
#include "web/parts.h"
#include "web/request.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
	COMMITS_MAX = 300,
	VALUES_MAX = 100,
	CHANGES_MAX = 30
};

/* "2030-11-06", a day that there is. */
static bool is_day(const char *s)
{
	struct tm tm = { 0 }, back;
	const char *end = strlen(s) == 10 ? strptime(s, "%Y-%m-%d", &tm) : NULL;
	int day = tm.tm_mday;
	time_t t;

	if (!end || *end)
		return false;
	t = timegm(&tm);
	return gmtime_r(&t, &back) && back.tm_mday == day;
}

static int take_end(const struct request *q, const char *key, const char **ret_hash,
		    const char **ret_day, struct err *e)
{
	const char *s = url_query(&q->url, key);
	size_t n = s ? strlen(s) : 0;

	if (!n)
		return 0;
	if (n >= 8 && n <= 40 && strspn(s, "0123456789abcdef") == n)
		*ret_hash = s;
	else if (is_day(s))
		*ret_day = s;
	else
		return err_set(e, ERR_INVAL,
			       "%s: '%.40s' is neither 8 to 40 digits of a commit nor a day such "
			       "as 2030-11-06",
			       key, s);
	return 0;
}

int load_series(struct request *q, json_t **ret, struct err *e)
{
	struct page_span span = { .limit = COMMITS_MAX };
	int r;

	if (!id_valid('s', q->arg))
		return err_set(e, ERR_NOENT, "no series '%.40s'", q->arg);
	r = take_end(q, "from", &span.from, &span.from_day, e);
	if (r == 0)
		r = take_end(q, "to", &span.to, &span.to_day, e);
	return r < 0 ? r : page_series(q->db, q->arg, &span, ret, e);
}

int load_series_list(struct request *q, json_t **ret, struct err *e)
{
	const char *limit = url_query(&q->url, "limit");
	int64_t n = 100;

	if (limit && parse_i64(limit, 1, 500, &n, e) < 0) {
		(void)err_wrap(e, "limit");
		return ERR_INVAL;
	}
	return page_series_list(q->db, url_query(&q->url, "tree"), n, ret, e);
}

static void facts(struct html *h, const json_t *j)
{
	const json_t *made_by = json_object_get(j, "made_by");
	size_t measured = 0, i;
	const json_t *p;

	json_array_foreach (json_object_get(j, "points"), i, p)
		measured += json_is_number(json_object_get(p, "median"));
	html_div(h, "dl", "facts");
	fact(h, "Tree");
	html_open(h, "a");
	html_href(h, "/trees/", json_str(j, "tree", ""), NULL);
	html_text(h, json_str(j, "tree", ""));
	html_close(h);
	html_textf(h, " %s", json_str(j, "branch", ""));
	html_close(h);
	fact(h, "Test");
	html_textf(h, "%s ", json_str(j, "suite", ""));
	part_params(h, json_object_get(j, "params"));
	html_textf(h, " (job %s) on ", json_str(j, "job", ""));
	html_open(h, "a");
	html_href(h, "/machines/", json_str(j, "machine", ""), NULL);
	html_text(h, json_str(j, "machine", ""));
	html_close(h);
	html_close(h);
	fact(h, "Commits");
	html_textf(h, "%zu measured of %zu here, of %lld in all", measured, i,
		   (long long)json_i64(j, "commits", 0));
	if (json_str(made_by, "suite_version", NULL))
		html_textf(h, "; version %s of the suite", json_str(made_by, "suite_version", ""));
	if (json_str(made_by, "accel", NULL))
		html_textf(h, ", %s", json_str(made_by, "accel", ""));
	html_close(h);
	html_close(h);
}

static void what(struct html *h, const json_t *j)
{
	const json_t *m = json_object_get(j, "metric");

	html_div(h, "p", "dim");
	html_textf(h, "%s, %s", json_str(m, "name", ""), json_str(m, "unit", ""));
	if (json_str(m, "better", NULL))
		html_textf(h, ", %s is better", json_str(m, "better", ""));
	if (json_str(m, "about", NULL))
		html_textf(h, ": %s", json_str(m, "about", ""));
	html_text(h, ".");
	html_close(h);
}

static void links(struct html *h, const json_t *c)
{
	int64_t comparison = json_i64(c, "comparison", 0);

	td(h);
	if (comparison) {
		html_open(h, "a");
		html_attrf(h, "href", "/comparisons/%lld", (long long)comparison);
		html_textf(h, "comparison %lld", (long long)comparison);
		html_close(h);
	}
	if (json_str(c, "regression", NULL)) {
		html_open(h, "br");
		html_open(h, "a");
		html_attr(h, "class", "id");
		html_href(h, "/r/", json_str(c, "regression", ""), NULL);
		html_text(h, json_str(c, "regression", ""));
		html_close(h);
	}
	html_close(h);
}

static const char *why(const json_t *c)
{
	static const struct {
		const char *state, *text;
	} texts[] = {
		{ "seen", "nothing was done about it yet" },
		{ "known", "a comparison of neighbours had found it" },
		{ "confirming", "both levels are being measured again, in turns" },
		{ "confirmed", "measured again, in turns, it is there" },
		{ "refuted", "measured again, in turns, it is not there" },
		{ "unconfirmed", "measured again, nothing sure came out" },
		{ "drift", "the machine changed, not the kernel" },
		{ "went-away", "later commits do not show it any more" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(texts[i].state, json_str(c, "state", "")))
			return texts[i].text;
	return "";
}

static void change_rows(struct html *h, const json_t *list)
{
	const json_t *c;
	size_t i;

	table_begin(
		h, "Change points",
		"First commit of the new level|Last of the old one|>Change|>p|State|Why|See|Seen");
	json_array_foreach (list, i, c) {
		if (i == CHANGES_MAX)
			break;
		html_open(h, "tr");
		html_div(h, "td", "wide");
		part_commit(h, json_str(c, "first", NULL), json_str(c, "title", ""));
		html_close(h);
		td_commit(h, json_str(c, "last", NULL), NULL);
		td_num(h);
		part_change(h, c);
		html_close(h);
		html_elf(h, "td", "num", "%.2g", json_f64(c, "p", NAN));
		td_state(h, json_str(c, "state", ""));
		html_div(h, "td", "wide");
		html_text(h, why(c));
		if (json_is_number(json_object_get(c, "measured"))) {
			html_text(h, ": ");
			part_percent(h, json_f64(c, "measured", NAN));
		}
		if (json_str(c, "why", NULL)) {
			html_text(h, ": ");
			html_short(h, json_str(c, "why", ""), 200);
		}
		html_close(h);
		links(h, c);
		td_time(h, json_str(c, "seen", NULL));
		html_close(h);
	}
	table_end(h);
	if (json_array_size(list) > CHANGES_MAX)
		html_elf(h, "p", "dim", "%zu older ones are in the JSON form of this page.",
			 json_array_size(list) - CHANGES_MAX);
}

static void value_row(struct html *h, const json_t *p)
{
	const json_t *k = json_object_get(p, "compared");
	double sd = json_f64(p, "sd", NAN), median = json_f64(p, "median", NAN);

	html_open(h, "tr");
	html_div(h, "td", "wide");
	part_commit(h, json_str(p, "commit", NULL), json_str(p, "title", ""));
	html_close(h);
	td_num(h);
	part_value(h, median);
	html_close(h);
	td_num(h);
	if (isfinite(sd) && median != 0)
		html_textf(h, "%.2g%%", 100 * sd / fabs(median));
	html_close(h);
	html_elf(h, "td", "num", "%lld", (long long)json_i64(p, "n", 0));
	td_time(h, json_str(p, "at", NULL));
	td(h);
	if (k) {
		html_open(h, "a");
		html_attrf(h, "href", "/comparisons/%lld", (long long)json_i64(k, "id", 0));
		if (json_is_number(json_object_get(k, "rel")))
			part_percent(h, json_f64(k, "rel", NAN));
		else
			html_text(h, "open");
		html_close(h);
		html_text(h, " ");
		if (json_str(k, "verdict", NULL))
			part_state(h, json_str(k, "verdict", ""));
	}
	html_close(h);
	html_close(h);
}

static void value_rows(struct html *h, const json_t *list)
{
	size_t n = json_array_size(list);

	table_begin(
		h, "Values",
		"Commit|>Median of its boots|>Boot to boot|>Boots|Measured|Against the one before");
	for (size_t i = 0; i < n && i < VALUES_MAX; i++)
		value_row(h, json_array_get(list, n - 1 - i));
	table_end(h);
	if (n > VALUES_MAX)
		html_elf(h, "p", "dim", "%zu older ones are in the other forms of this page.",
			 n - VALUES_MAX);
}

/* The page limits itself to the last commits; this leads to what came before. */
static void older(struct request *q, struct html *h, const json_t *j)
{
	const json_t *points = json_object_get(j, "points");
	const char *first = json_str(json_array_get(points, 0), "commit", NULL);

	html_div(h, "p", "filters");
	if (json_array_size(points) == COMMITS_MAX && first) {
		html_open(h, "a");
		html_attrf(h, "href", "/series/%s?to=%.12s", q->arg, first);
		html_text(h, "Older commits");
		html_close(h);
		html_text(h, " ");
	}
	if (url_query(&q->url, "from") || url_query(&q->url, "to")) {
		html_open(h, "a");
		html_href(h, "/series/", q->arg, NULL);
		html_text(h, "The newest commits");
		html_close(h);
	}
	html_close(h);
}

void render_series(struct request *q, struct html *h, const json_t *j)
{
	_cleanup_(freep) char *title = xasprintf("Series %s", q->arg);

	page_begin(q, h, title, "/series");
	html_el(h, "h1", NULL, title);
	what(h, j);
	facts(h, j);
	plot_series(h, j);
	older(q, h, j);
	part_list(h, j, "changes", "Change points", change_rows,
		  "None: nothing says that the level changed.");
	part_list(h, j, "points", "Values", value_rows, "No commit of this part was met.");
	page_end(q, h);
}

static void series_row(struct html *h, const json_t *s)
{
	const json_t *c = json_object_get(s, "newest");

	html_open(h, "tr");
	td(h);
	html_open(h, "a");
	html_attr(h, "class", "id");
	html_href(h, "/series/", json_str(s, "id", ""), NULL);
	html_text(h, json_str(s, "id", ""));
	html_close(h);
	html_close(h);
	html_elf(h, "td", NULL, "%s %s", json_str(s, "tree", ""), json_str(s, "branch", ""));
	html_el(h, "td", NULL, json_str(s, "job", ""));
	html_div(h, "td", "wide");
	html_short(h, json_str(s, "metric", ""), 80);
	html_close(h);
	html_el(h, "td", NULL, json_str(s, "machine", ""));
	html_elf(h, "td", "num", "%lld", (long long)json_i64(s, "changes", 0));
	td_num(h);
	if (c)
		part_change(h, c);
	html_close(h);
	td(h);
	if (c) {
		part_state(h, json_str(c, "state", ""));
		html_text(h, " at ");
		part_commit(h, json_str(c, "first", NULL), NULL);
	}
	html_close(h);
	html_close(h);
}

void series_rows(struct html *h, const json_t *items)
{
	const json_t *s;
	size_t i;

	table_begin(h, "Series", "Id|Branch|Job|Metric|Machine|>Changes|>Newest|State");
	json_array_foreach (items, i, s)
		series_row(h, s);
	table_end(h);
}

void render_series_list(struct request *q, struct html *h, const json_t *j)
{
	page_begin(q, h, "Series", "/series");
	html_el(h, "h1", NULL, "Series");
	html_el(h, "p", "dim",
		"What one machine measured of a job along a branch; those that changed last come "
		"first.");
	if (json_array_size(json_object_get(j, "items")))
		series_rows(h, json_object_get(j, "items"));
	else
		part_empty(h, "None yet: a series begins with the first verdict.");
	page_end(q, h);
}

/* As `kperfbot changes` reads it. */
void table_series(const json_t *j, struct strbuf *b)
{
	const json_t *p, *v;
	size_t i, k;

	csv_heads(b, "series,machine,commit,boot,time,value");
	json_array_foreach (json_object_get(j, "points"), i, p) {
		json_array_foreach (json_object_get(p, "boots"), k, v) {
			csv_str(b, json_str(j, "id", ""));
			csv_str(b, json_str(j, "machine", ""));
			csv_str(b, json_str(p, "commit", ""));
			csv_num(b, (double)json_i64(v, "boot", 0));
			csv_str(b, json_str(v, "at", ""));
			csv_num(b, json_f64(v, "value", NAN));
			csv_end(b);
		}
	}
}
