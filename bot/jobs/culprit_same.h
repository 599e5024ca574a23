/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Was a culprit found before? */
#pragma once

struct err;
struct job_ctx;
struct regression;

/**
 * culprit_same() - regression_same(), also for what is the same change under another hash (twin_is()).
 * @ret: the earlier regression, "" if there is none.
 */
int culprit_same(struct job_ctx *c, const struct regression *reg, const char *culprit, char ret[9],
		 struct err *e);
