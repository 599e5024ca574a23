/* SPDX-License-Identifier: GPL-3.0-or-later */
/* File format kperfbot-verdict/1. */
#pragma once

#include "bot/detect/judged.h"

#include <jansson.h>

struct err;

/**
 * verdict_json_read() - the numbers of such an object; notes are not read back.
 * Return: 0; ERR_PARSE naming the key that is wrong.
 */
int verdict_json_read(const json_t *o, struct detect_result *ret, struct err *e);

/** verdict_more_runs() - runs that each side still needs to reach the next look; 0: none asked. */
int verdict_more_runs(const struct detect_result *r);

/**
 * judged_write() - append the whole kperfbot-verdict/1 object to @text, without a line end.
 *
 * Numbers that cannot be had are absent keys. `more_runs` is what each side still needs.
 */
void judged_write(const struct judged *j, const struct runs *base, const struct runs *head,
		  struct strbuf *text);

/** judged_json() - the same as an object; a new reference. */
json_t *judged_json(const struct judged *j, const struct runs *base, const struct runs *head);
