/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What several pages draw: frame, states, commits, times, numbers, tables, plots. */
#pragma once

#include "bot/base/json.h"

#include <stddef.h>
#include <stdint.h>

struct html;
struct request;

/** page_begin() - everything before the content. @nav: path of the menu entry this is under. */
void page_begin(struct request *q, struct html *h, const char *title, const char *nav);
/** page_end() - close the content, foot with a link to the JSON form. */
void page_end(struct request *q, struct html *h);

/** part_h2() - heading with an anchor. */
void part_h2(struct html *h, const char *id, const char *text);

/** part_state() - sign, word and colour of any state, verdict or class. */
void part_state(struct html *h, const char *state);
/** state_sign(), state_class() - what part_state() draws it with. */
const char *state_sign(const char *state);
const char *state_class(const char *state);
/** part_commit() - link with twelve digits, and the title if not NULL. Nothing for a NULL hash. */
void part_commit(struct html *h, const char *hash, const char *title);
/** part_time() - "2030-11-06 08:12 UTC"; part_age(): and how long ago; part_date(): day only. */
void part_time(struct html *h, const char *iso);
void part_age(struct html *h, const char *iso);
void part_date(struct html *h, const char *iso);
/** part_change() - "-3.8% (-4.3 .. -3.3)" from an object with rel, lo, hi. */
void part_change(struct html *h, const json_t *effect);
void part_percent(struct html *h, double rel);
/** part_value() - a measured number, or a dash. */
void part_value(struct html *h, double v);
/** value_text() - the same into @buf. */
const char *value_text(double v, char buf[32]);
/** part_seconds() - "94 s", "12 min", "3.1 h". */
void part_seconds(struct html *h, double s);
/** part_p() - a probability: 0.992. */
void part_p(struct html *h, double p);
/** part_params() - "page_fault1 mode=process nr-task=1". */
void part_params(struct html *h, const json_t *params);
/** part_empty() - a quiet line in place of an empty table. */
void part_empty(struct html *h, const char *text);

/**
 * part_list() - heading, and the array @key of @j as @draw draws it; @empty when there is nothing.
 */
void part_list(struct html *h, const json_t *j, const char *key, const char *title,
	       void (*draw)(struct html *h, const json_t *list), const char *empty);

/** table_begin() - scrolling box and table. @heads: "Commit|>Change|…", '>' is right-aligned; a
 * literal. On a narrow screen each row is a card, with the heads beside its cells. */
void table_begin(struct html *h, const char *label, const char *heads);
void table_end(struct html *h);
/** td(), td_num() - open a cell; html_close() ends it. */
void td(struct html *h);
void td_num(struct html *h);
/** td_time() and so on - a whole cell with what the part_ function of that name draws. */
void td_time(struct html *h, const char *iso);
void td_age(struct html *h, const char *iso);
void td_state(struct html *h, const char *state);
void td_commit(struct html *h, const char *hash, const char *title);

/** fact() - a term and its opened description in a <dl class="facts">; html_close() ends it. */
void fact(struct html *h, const char *term);

/** plot_runs() - single runs of base, head and culprit as SVG with title and description. */
void plot_runs(struct html *h, const json_t *regression);
/** plot_series() - a series with its levels and change points. */
void plot_series(struct html *h, const json_t *series);
/** plot_bar() - a bar of @share (0 to 1). Decoration: the number stands beside it. */
void plot_bar(struct html *h, double share);

/** series_rows() - the table of a list of series. */
void series_rows(struct html *h, const json_t *items);
/** regression_rows() - the table of a list of regressions. */
void regression_rows(struct html *h, const json_t *items);
/** machine_rows() - the table of a list of machines. */
void machine_rows(struct html *h, const json_t *items);
/** bisection_rows() - the table of a list of bisections. */
void bisection_rows(struct html *h, const json_t *items);
