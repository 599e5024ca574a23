/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison found, as the pages of comparisons and regressions show it. */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>

struct html;

/** verdict_metric() - the metric @name in a list of kperfbot-verdict/1; NULL: it is not there. */
const json_t *verdict_metric(const json_t *metrics, const char *name);

/** verdict_is_change() - "regression", "improvement", "change". */
bool verdict_is_change(const char *verdict);

/** verdict_findings() - heading and sentences of "findings"; nothing if there are none. */
void verdict_findings(struct html *h, const json_t *findings);

/**
 * verdict_checks() - heading and table of "checks"; nothing if there are none.
 * @checks: {name, rel, lo, hi, n, ok}.
 */
void verdict_checks(struct html *h, const json_t *checks);

/** verdict_checks_of() - "checks" of the first finding; NULL if there are none. Borrowed. */
const json_t *verdict_checks_of(const json_t *findings);

/** verdict_modes() - a sentence for each side of metric @m whose runs gather at several values. */
void verdict_modes(struct html *h, const json_t *m);

/**
 * verdict_metrics() - heading and table of all metrics, changed ones first, the rest folded.
 *
 * Long lists are cut, so that the page stays small; the JSON form has them all.
 */
void verdict_metrics(struct html *h, const json_t *metrics);

/** td_comparison() - a cell with the number of a comparison as link, and what it is for. */
void td_comparison(struct html *h, const json_t *comparison);

/** verdict_look() - "look 2 of 5, sees 2.1%" from "plan" and "look"; nothing without a plan. */
void verdict_look(struct html *h, const json_t *comparison);
