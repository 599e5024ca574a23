/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a bisection has found, as JSON for programs and as a sentence for people. The keys are in
 * bot/jobs/bisection_answer.h.
 */
#pragma once

#include "bot/jobs/bisection_order.h"
#include "bot/jobs/bisection_run.h"

struct strbuf;

/** struct bisection_against - what was measured of a commit against one of its parents. */
struct bisection_against {
	const char *parent;
	struct detect_result effect;
};

/** bisection_effect_json() - rel, lo, hi, level; a new reference. */
json_t *bisection_effect_json(const struct detect_result *effect);

/** bisection_effect_text() - "-4.1 % (-4.4 % to -3.8 %)" is added to @text. */
void bisection_effect_text(const struct detect_result *effect, struct strbuf *text);

/** bisection_effect_differs() - does its interval leave out zero? */
bool bisection_effect_differs(const struct detect_result *effect);

/**
 * bisection_result_too_wide() - is what was found a merge of so many parents that measuring it against
 * each takes more than the budget has left? Of few parents that does not matter.
 * @parents: @n of them. @what: "the first bad commit". @text: then why it is not verified is added.
 */
bool bisection_result_too_wide(const struct bisection_run *b, const struct bisect_step *step,
			       const char *const *parents, size_t n, int boots, const char *what,
			       struct strbuf *text);

/** bisection_result_sure() - a name as sure as wanted, whose budget is spent. */
bool bisection_result_sure(const struct bisection_run *b, const struct bisect_step *step);

/**
 * bisection_result_set() - the commits that hold 95 %, when no single one can be named.
 * @text: the sentence is added. Return: a new reference.
 */
json_t *bisection_result_set(const struct bisection_run *b, const struct bisect_step *step,
			     struct strbuf *text);

/**
 * bisection_result_none() - the ends do not differ, or by less than was asked for; @effect from the
 * good one to the bad one.
 * @ret_blind: a change as large as was asked for is not ruled out by that.
 */
json_t *bisection_result_none(const struct bisection_run *b, const struct bisect_step *step,
			      const struct detect_result *effect, bool *ret_blind,
			      struct strbuf *text);

/** bisection_result_culprit() - @step's commit, and what it was measured as against its parents. */
json_t *bisection_result_culprit(const struct bisection_run *b, const struct bisect_step *step,
				 const struct bisection_against *a, size_t n, struct strbuf *text);
