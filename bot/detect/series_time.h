/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times in files that people make. */
#pragma once

/**
 * series_time_parse() - "1709210096.5", "2024-02-29", "2024-02-29T12:34:56.5Z" or "+01:00"; a space
 * for the T will do, no zone is UTC.
 * @ret: seconds since 1970; NaN for "".
 * Return: 0 or ERR_PARSE.
 */
int series_time_parse(const char *s, double *ret);
