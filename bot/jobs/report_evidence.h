/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the comparison behind a regression adds to its report. */
#pragma once

#include "bot/base/json.h"

struct db;
struct err;
struct regression;

/**
 * report_evidence() - "checks", "found", "one_peak" and the modes of both sides.
 * @out: an object of kperfbot-report/1 that has "effect".
 *
 * Nothing is added where the comparison has no evidence.
 */
int report_evidence(struct db *db, const struct regression *reg, json_t *out, struct err *e);
