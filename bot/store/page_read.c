/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/page_read.h"

#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* PostgreSQL writes 2030-11-06T08:12:00.123456+00:00; we promise 2030-11-06T08:12:00Z. */
static void tidy_time(json_t *obj, const char *key, const char *s)
{
	char buf[32];

	if (strlen(s) < 25 || s[4] != '-' || s[10] != 'T' || s[19] == '\0' ||
	    strcmp(s + strlen(s) - 6, "+00:00") != 0)
		return;
	(void)snprintf(buf, sizeof(buf), "%.19sZ", s);
	json_set_str(obj, key, buf);
}

static bool is_time(const char *key)
{
	static const char *const keys[] = {
		"at",	    "author_time", "commit_time", "created",   "drained_at", "expires",
		"finished", "last_check",  "last_ok",	  "last_seen", "last_sent",  "last_try",
		"last_use", "lease_until", "revoked",	  "run_at",    "seen",	     "sent",
		"since",    "started",	   "updated"
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static void tidy(json_t *j)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_array(j)) {
		json_array_foreach (j, i, v)
			tidy(v);
	} else if (json_is_object(j)) {
		json_object_foreach (j, key, v) {
			if (json_is_string(v) && is_time(key))
				tidy_time(j, key, json_string_value(v));
			else
				tidy(v);
		}
	}
}

static int take_json(struct db_rows *rows, json_t **ret, struct err *e)
{
	const char *text = db_str(rows, 0, 0);
	int r = json_read(text, strlen(text), "answer of the database", ret, e);

	db_rows_done(rows);
	if (r < 0)
		return err_set(e, ERR_BUG, "answer of the database is not JSON");
	tidy(*ret);
	return 0;
}

/* What people have to know of the range: its merge bases, its length. */
static void log_notes(const json_t *j, struct strbuf *b)
{
	const json_t *note;
	size_t i;

	json_array_foreach (json_object_get(j, "notes"), i, note)
		strbuf_addf(b, "# note: %s\n", json_string_value(note));
}

int page_overview(struct db *db, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_OVERVIEW, &rows, e, "");

	return r < 0 ? r : take_json(&rows, ret, e);
}

/* "MICROSECONDS_ID", as the statements write it. */
static int read_cursor(const char *after, char prefix, int64_t *ret_us, const char **ret_id,
		       struct err *e)
{
	_cleanup_(freep) char *digits = NULL;
	const char *sep = after ? strchr(after, '_') : NULL;

	*ret_us = 0;
	*ret_id = NULL;
	if (!after)
		return 0;
	digits = xstrndup(after, sep ? (size_t)(sep - after) : 0);
	if (!sep || parse_i64(digits, 0, INT64_MAX, ret_us, NULL) < 0 || !id_valid(prefix, sep + 1))
		return err_set(e, ERR_INVAL, "'%s' is not the \"next\" of a list", after);
	*ret_id = sep + 1;
	return 0;
}

#define REGRESSION_STATES \
	"new, confirmed, bisecting, reported, acknowledged, expected, fix-pending, fixed, invalid, lab, dup, layout"
#define REGRESSION_CLASSES "broad, micro, unknown"
#define BISECTION_STATES \
	"queued, checking-ends, running, verifying, done, inconclusive, not-reproduced, failed, cancelled"

/* A filter that can fit nothing is a slip of the pen; an empty list would hide it. */
static int check_word(const char *what, const char *word, const char *words, struct err *e)
{
	size_t n = word ? strlen(word) : 0;

	if (!word)
		return 0;
	for (const char *p = words; n && (p = strstr(p, word)); p++)
		if ((p == words || p[-1] == ' ') && (p[n] == ',' || !p[n]))
			return 0;
	return err_set(e, ERR_INVAL, "no %s '%.40s'; there are %s", what, word, words);
}

int page_machines(struct db *db, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_MACHINES, &rows, e, "s", NULL);

	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_machine(struct db *db, const char *name, json_t **ret, struct err *e)
{
	_cleanup_(json_decrefp) json_t *list = NULL;
	_cleanup_(json_decrefp) json_t *more = NULL;
	struct db_rows rows = { 0 };
	json_t *one;
	int r;

	r = db_run_one(db, SQL_PAGE_MACHINES, &rows, e, "s", name);
	if (r == 0)
		r = take_json(&rows, &list, e);
	if (r < 0)
		return r;
	one = json_array_get(json_object_get(list, "items"), 0);
	if (!one)
		return err_set(e, ERR_NOENT, "there is no machine '%.80s'", name);
	r = db_run_one(db, SQL_PAGE_MACHINE, &rows, e, "s", name);
	if (r == 0)
		r = take_json(&rows, &more, e);
	if (r < 0)
		return r;
	if (json_object_update(one, more) < 0)
		abort();
	*ret = json_incref(one);
	return 0;
}

int page_regressions(struct db *db, const struct page_filter *f, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	const char *id;
	int64_t us;
	int r;

	r = check_word("state", f->state, REGRESSION_STATES, e);
	if (r == 0)
		r = check_word("class", f->class, REGRESSION_CLASSES, e);
	if (r == 0)
		r = read_cursor(f->after, 'r', &us, &id, e);
	if (r == 0)
		r = db_run_one(db, SQL_PAGE_REGRESSIONS, &rows, e, "ssssisi", f->state, f->tree,
			       f->class, f->suite, us, id, f->limit);
	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_bisections(struct db *db, const struct page_filter *f, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	const char *id;
	int64_t us;
	int r;

	r = check_word("state", f->state, BISECTION_STATES, e);
	if (r == 0)
		r = read_cursor(f->after, 'b', &us, &id, e);
	if (r == 0)
		r = db_run_one(db, SQL_PAGE_BISECTIONS, &rows, e, "ssisi", f->state, f->tree, us,
			       id, f->limit);
	return r < 0 ? r : take_json(&rows, ret, e);
}

static int by_key(struct db *db, enum sql_id sql, const char *what, const char *key, json_t **ret,
		  struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, sql, &rows, e, "s", key);

	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "no %s '%s'", what, key);
	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_regression(struct db *db, const char *id, json_t **ret, struct err *e)
{
	return by_key(db, SQL_PAGE_REGRESSION, "regression", id, ret, e);
}

int page_bisection(struct db *db, const char *id, json_t **ret, struct err *e)
{
	return by_key(db, SQL_PAGE_BISECTION, "bisection", id, ret, e);
}

int page_tree(struct db *db, const char *name, json_t **ret, struct err *e)
{
	return by_key(db, SQL_PAGE_TREE, "tree", name, ret, e);
}

int page_comparison(struct db *db, int64_t id, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_COMPARISON, &rows, e, "i", id);

	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "no comparison %lld", (long long)id);
	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_series(struct db *db, const char *id, const struct page_span *span, json_t **ret,
		struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_SERIES, &rows, e, "sssssi", id, span->from, span->to,
			   span->from_day, span->to_day, span->limit);

	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "no series '%.40s'", id);
	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_series_list(struct db *db, const char *tree, int64_t limit, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_SERIES_LIST, &rows, e, "si", tree, limit);

	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_queue(struct db *db, int64_t limit, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run_one(db, SQL_PAGE_QUEUE, &rows, e, "i", limit);

	return r < 0 ? r : take_json(&rows, ret, e);
}

int page_commit(struct db *db, const char *digits, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_PAGE_COMMIT, &rows, e, "s", digits);

	if (r < 0)
		return r;
	if (rows.n == 1)
		return take_json(&rows, ret, e);
	r = rows.n ? err_set(e, ERR_AMBIGUOUS, "'%s' fits more than one commit", digits)
		   : err_set(e, ERR_NOENT, "no commit '%s' was met", digits);
	db_rows_done(&rows);
	return r;
}

int page_mails(struct db *db, const char *regression, json_t **ret, struct err *e)
{
	struct db_rows rows = { 0 };
	int r = db_run(db, SQL_PAGE_REGRESSION_MAIL, &rows, e, "s", regression);

	if (r < 0)
		return r;
	*ret = json_array();
	for (int i = 0; i < rows.n; i++) {
		size_t len;
		_cleanup_(freep) char *bytes = db_bytes(&rows, i, 1, &len);
		json_t *o = json_object();

		json_set_str(o, "message_id", db_str(&rows, i, 0));
		json_set_str(o, "text", bytes);
		if (json_array_append_new(*ret, o) < 0)
			abort();
	}
	db_rows_done(&rows);
	return 0;
}

int page_log(struct db *db, enum page_log kind, int64_t id, char ret[65], struct err *e)
{
	static const struct {
		enum sql_id sql;
		const char *what;
	} kinds[] = {
		[PAGE_BUILD_LOG] = { SQL_API_BUILD_LOG, "log of build" },
		[PAGE_BUILD_CONFIG] = { SQL_API_BUILD_CONFIG, "configuration of build" },
		[PAGE_BOOT_CONSOLE] = { SQL_API_BOOT_CONSOLE, "console of boot" },
		[PAGE_RUN_RAW] = { SQL_API_RUN_RAW, "output of run" },
	};
	struct db_rows rows = { 0 };
	int r = db_run_one(db, kinds[kind].sql, &rows, e, "i", id);

	if (r == ERR_NOENT)
		return err_set(e, ERR_NOENT, "no %s %lld", kinds[kind].what, (long long)id);
	if (r < 0)
		return r;
	(void)snprintf(ret, 65, "%s", db_str(&rows, 0, 0));
	db_rows_done(&rows);
	return 0;
}

double page_seconds_left(const json_t *bisection)
{
	const char *until = json_str(json_object_get(bisection, "eta"), "p50", "");
	struct tm tm = { 0 };
	double left;

	if (!strptime(until, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NAN;
	left = difftime(timegm(&tm), (time_t)(clock_realtime() / USEC_PER_SEC));
	return left > 0 ? left : 0;
}

/* A comment to git, so that all of the log can be replayed. */
static void log_step(struct strbuf *b, const json_t *s)
{
	double rel = json_f64(s, "rel", NAN), p = json_f64(s, "p_bad", NAN);
	const json_t *after = json_object_get(s, "after");
	char text[PROBABILITY_TEXT];

	strbuf_addf(b, "#%3d  %.12s  %-6s", (int)json_i64(s, "n", 0), json_str(s, "commit", ""),
		    json_str(s, "verdict", ""));
	if (isnan(rel))
		strbuf_addf(b, "  %7s", "-");
	else
		strbuf_addf(b, "  %+6.1f%%", rel * 100);
	strbuf_addf(b, "  %6s", probability_text(text, p));
	strbuf_addf(b, "  %5d  %4d  %5.0f s", (int)json_i64(s, "boots", 0),
		    (int)json_i64(s, "runs", 0), json_f64(s, "took_s", NAN));
	if (after)
		strbuf_addf(b, "  %.12s %6s  %7lld  %9.1f", json_str(after, "commit", ""),
			    probability_text(text, json_f64(after, "p", NAN)),
			    (long long)json_i64(after, "hold95", 0), json_f64(after, "bits", NAN));
	else
		strbuf_addf(b, "  %12s %6s  %7s  %9.1f", "-", "-", "-",
			    log2(json_f64(s, "left", NAN)));
	if (json_str(s, "reason", NULL))
		strbuf_addf(b, "  %s: %s", json_str(s, "reason", ""), json_str(s, "detail", ""));
	strbuf_addf(b, "  %.100s\n", json_str(s, "title", ""));
}

/* Of an open one: what it waits for, and when it will end. */
static void log_left(const json_t *j, struct strbuf *b)
{
	const json_t *eta = json_object_get(j, "eta"), *queue = json_object_get(j, "queue");
	int ahead = (int)json_i64(queue, "position", 0);

	if (ahead > 0)
		strbuf_addf(b, "# %d boots of others come first, %.0f min\n", ahead,
			    ceil(json_f64(queue, "ahead_s", 0) / 60));
	if (json_str(eta, "p50", NULL))
		strbuf_addf(b, "# expected to end at %.16sZ, nine times in ten by %.16sZ\n",
			    json_str(eta, "p50", ""), json_str(eta, "p90", ""));
}

/* What it cost, and the noise that it was judged by. */
static void log_cost(const json_t *j, struct strbuf *b)
{
	const json_t *runs = json_object_get(j, "runs"), *noise = json_object_get(j, "noise");
	double hours = json_f64(json_object_get(j, "machine_hours"), "used", NAN);
	bool ln = json_is_true(json_object_get(noise, "ln"));

	strbuf_addf(b, "# asked %.16sZ", json_str(j, "created", ""));
	if (json_str(j, "finished", NULL))
		strbuf_addf(b, ", ended %.16sZ", json_str(j, "finished", ""));
	if (json_i64(runs, "max", 0))
		strbuf_addf(b, "; %lld of at most %lld runs, %lld boots",
			    (long long)json_i64(runs, "used", 0),
			    (long long)json_i64(runs, "max", 0),
			    (long long)json_i64(json_object_get(j, "boots"), "used", 0));
	if (isfinite(hours))
		strbuf_addf(b, "; %.1f minutes of machine time", 60 * hours);
	if (noise)
		strbuf_addf(b, "\n# noise of %.2f%s a run, %.2f%s a boot",
			    (ln ? 100 : 1) * json_f64(noise, "sigma", 0), ln ? " %" : "",
			    (ln ? 100 : 1) * json_f64(noise, "boot_sd", 0), ln ? " %" : "");
	strbuf_addch(b, '\n');
}

void page_bisection_log(const json_t *j, struct strbuf *b)
{
	const json_t *range = json_object_get(j, "resolved");
	const json_t *log = json_object_get(j, "log");
	const json_t *result = json_object_get(j, "result");
	char text[PROBABILITY_TEXT];
	const json_t *s;
	size_t i;

	strbuf_addf(b, "# bisection %s: %s\n# tree %s, job %s, metric %s\n", json_str(j, "id", ""),
		    json_str(j, "state", ""), json_str(j, "tree", ""), json_str(j, "job", ""),
		    json_str(json_object_get(j, "metric"), "name", ""));
	strbuf_addf(b, "# good %s %s\n# bad  %s %s\n", json_str(range, "good", ""),
		    json_str(j, "good_title", ""), json_str(range, "bad", ""),
		    json_str(j, "bad_title", ""));
	log_cost(j, b);
	log_notes(j, b);
	log_left(j, b);
	if (json_str(j, "state_text", NULL))
		strbuf_addf(b, "# %s\n", json_str(j, "state_text", ""));
	strbuf_addstr(b, "#\n# step  commit        verdict   change  P(bad)  boots  runs     took  "
			 "likeliest         P  hold95%  bits left\n");
	json_array_foreach (log, i, s)
		log_step(b, s);
	if (!json_is_object(result))
		return;
	(void)probability_text(text, json_f64(result, "p", NAN));
	if (json_str(result, "culprit", NULL))
		strbuf_addf(
			b, "# %sfirst bad commit %s P%s%s %s\n",
			json_is_false(json_object_get(result, "confirmed")) ? "not verified: " : "",
			json_str(result, "culprit", ""), *text == '<' || *text == '>' ? "" : "=",
			text, json_str(j, "culprit_title", ""));
	if (json_str(result, "text", NULL))
		strbuf_addf(b, "# %s\n", json_str(result, "text", ""));
}
