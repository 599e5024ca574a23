/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A regression with all its evidence, as the composer reads it. */
#pragma once

#include "bot/base/json.h"

#include <stdint.h>

struct err;
struct job_ctx;
struct regression;

/**
 * report_json() - collect the input of compose_input_from_json().
 * @at_s: when the mail is made, seconds since 1970.
 * @ret: a new reference.
 */
int report_json(struct job_ctx *c, const struct regression *reg, uint64_t at_s, json_t **ret,
		struct err *e);
