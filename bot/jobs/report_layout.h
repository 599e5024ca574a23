/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Before a report: did the commit only move other code about? */
#pragma once

#include "bot/base/json.h"

#include <stdbool.h>

struct err;
struct job_ctx;
struct regression;

/**
 * struct report_layout - what the check came to.
 * @ended: the work at hand has ended: the check was asked for or is under way, and its end asks for
 *	the report again; or it ended the regression, in state layout.
 * @check: an entry for the checks of the mail, a new reference; NULL: no check was needed.
 */
struct report_layout {
	bool ended;
	json_t *check;
};

/**
 * report_layout() - see to the check of code layout for a regression in state confirmed.
 *
 * A commit that touches nothing of what the test runs is built again, and its parent, with all
 * functions aligned (report.layout-check says when else). A change that goes away then is no
 * regression of this commit: state layout, and no mail.
 */
int report_layout(struct job_ctx *c, const struct regression *reg, struct report_layout *ret,
		  struct err *e);
