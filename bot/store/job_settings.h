/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a [job] section says about the set-up of the machine and the monitors beside it. */
#pragma once

#include "bot/base/json.h"

struct config;
struct err;

/**
 * job_settings_read() - @ret: object of strings with the keys of struct proto_job's settings, but
 * for thp; what is kept as it is, is not in it.
 * Return: 0; ERR_CONFIG.
 */
int job_settings_read(const struct config *c, const char *section, json_t **ret, struct err *e);

/**
 * job_monitors_read() - @ret: names in the order of the table, each once, NULL-terminated; free().
 * The names belong to the table. Return: 0; ERR_CONFIG with the choices.
 */
int job_monitors_read(const struct config *c, const char *section, const char ***ret,
		      struct err *e);
