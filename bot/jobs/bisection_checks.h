/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured once the name is sure: the bad end with the culprit taken back, where that
 * applies cleanly, and the tip of the branch, both against the culprit's parent.
 */
#pragma once

#include "bot/jobs/bisection_run.h"

struct strbuf;

/**
 * bisection_checks() - order them, or add what they gave to @result (revert {applies, why, on,
 * commit, rel, lo, hi, level}, tip {commit, rel, lo, hi, level}).
 * @text: a sentence about each is added. Return: 1 boots were ordered, 0 all is told, an error.
 */
int bisection_checks(struct bisection_run *b, const char *culprit, const char *parent, int boots,
		     json_t *result, struct strbuf *text, struct err *e);
