/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'kperfbot show' of a series. */
#pragma once

#include "bot/base/json.h"

struct cli;

/** show_series() - its levels, change points and last values, from page_series(). */
void show_series(const struct cli *cli, const json_t *series);
