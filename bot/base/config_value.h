/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One value of the configuration. Used by config.c alone. */
#pragma once

struct config_key;
struct err;

/**
 * config_value_parse() - check a value against its key's type and range.
 * @ret: as a number; 0 where the type is none.
 *
 * Return: 0; a negative ERR_ value with what is wrong with it.
 */
int config_value_parse(const struct config_key *k, const char *value, double *ret, struct err *e);
