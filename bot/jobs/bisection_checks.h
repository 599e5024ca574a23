/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is measured beside the culprit and its parents once the name is sure: the bad end with the
 * culprit taken back, where that applies cleanly, in turns with the bad end; and the tip of a branch
 * that contains the bad end, in turns with the culprit's parent. Neither stands in the way of the
 * answer: what cannot be made, built, booted or afforded is told with the reason.
 */
#pragma once

#include "bot/jobs/bisection_order.h"

struct strbuf;

/** BISECTION_CHECK_SIDES - sides that they add at most. */
#define BISECTION_CHECK_SIDES 4

/**
 * bisection_checks_choose() - choose what is measured for @culprit, once: its checks, and what of it
 * lies outside of the range, see bot/jobs/bisection_outside.h. Kept with the status.
 */
int bisection_checks_choose(struct bisection_run *b, const char *culprit, struct err *e);

/**
 * bisection_checks_ahead() - @culprit is likely to be named: choose its checks, and have their
 * builds made meanwhile.
 */
int bisection_checks_ahead(struct bisection_run *b, const char *culprit, struct err *e);

/**
 * bisection_checks_sides() - what can be measured of them, with what it is compared with.
 * @sides, @n: culprit and parents; added to, room for BISECTION_CHECK_SIDES more. The hashes belong to @b.
 * @boots: of each. Return: 1 a build is still made, 0, an error.
 */
int bisection_checks_sides(struct bisection_run *b, const char *culprit, const char *parent,
			   int boots, struct bisection_side *sides, size_t *n, struct err *e);

/**
 * bisection_checks_tell() - add what they gave to @result, see bisection_answer(), and a sentence
 * about each to @text. @rel: what the culprit brings.
 */
int bisection_checks_tell(struct bisection_run *b, const char *parent, double rel, int boots,
			  json_t *result, struct strbuf *text, struct err *e);
