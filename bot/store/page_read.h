/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading for people: each function is one statement of sql/queries/page that gives the JSON object
 * which the API serves and pages and CLI draw from. Absent keys are unknown; times are UTC.
 */
#pragma once

#include "bot/base/json.h"

#include <stdint.h>

struct db;
struct err;
struct strbuf;

/** page_overview() - trees, machines, counts of work, open comparisons and bisections, mails. */
int page_overview(struct db *db, json_t **ret, struct err *e);

/**
 * struct page_filter - which rows of a list; NULL is any.
 * @after: the "next" of the answer before.
 * @limit: most rows, 1 to 500.
 */
struct page_filter {
	const char *state, *tree, *class, *suite;
	const char *after;
	int64_t limit;
};

/** page_regressions(), page_bisections() - {"items":[…],"next":…}; ERR_INVAL: @after has no form. */
int page_regressions(struct db *db, const struct page_filter *f, json_t **ret, struct err *e);
int page_bisections(struct db *db, const struct page_filter *f, json_t **ret, struct err *e);

/* ERR_NOENT: there is no such thing. */
int page_regression(struct db *db, const char *id, json_t **ret, struct err *e);
int page_bisection(struct db *db, const char *id, json_t **ret, struct err *e);
int page_tree(struct db *db, const char *name, json_t **ret, struct err *e);
/** page_machines() - {"items":[…]}; page_machine() - one of them, with "events", "controls", "recent", "facts". */
int page_machines(struct db *db, json_t **ret, struct err *e);
int page_machine(struct db *db, const char *name, json_t **ret, struct err *e);
int page_comparison(struct db *db, int64_t id, json_t **ret, struct err *e);

/**
 * struct page_span - part of a series; NULL is open.
 * @from, @to: the first digits of a commit's hash. @from_day, @to_day: "2030-11-06", of measuring.
 * @limit: most commits, the last ones.
 */
struct page_span {
	const char *from, *to, *from_day, *to_day;
	int64_t limit;
};
/** page_series() - one series; page_series_list() - those of tree @tree, NULL: of all. */
int page_series(struct db *db, const char *id, const struct page_span *span, json_t **ret,
		struct err *e);
int page_series_list(struct db *db, const char *tree, int64_t limit, json_t **ret, struct err *e);
int page_queue(struct db *db, int64_t limit, json_t **ret, struct err *e);

/** page_commit() - by all or the first (8 or more) digits of its hash; ERR_AMBIGUOUS. */
int page_commit(struct db *db, const char *digits, json_t **ret, struct err *e);

/** page_mails() - bytes of the mails about a regression as [{"message_id","text"}]. */
int page_mails(struct db *db, const char *regression, json_t **ret, struct err *e);

enum page_log {
	PAGE_BUILD_LOG,
	PAGE_BUILD_CONFIG,
	PAGE_BOOT_CONSOLE,
	PAGE_RUN_RAW
};

/** page_log() - name of the artefact that holds a log, 64 hex digits into @ret. */
int page_log(struct db *db, enum page_log kind, int64_t id, char ret[65], struct err *e);

/** page_seconds_left() - from now to the "eta" of a bisection, median; 0 when it is over; NAN: none. */
double page_seconds_left(const json_t *bisection);

/** page_bisection_log() - the plain text log of what page_bisection() gave; appended to @ret. */
void page_bisection_log(const json_t *bisection, struct strbuf *ret);
