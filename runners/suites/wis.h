/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to will-it-scale. */
#pragma once

#include "runners/suites/internal.h"

/** wis_parse() - suite_parse() for what a test program or one of the wrappers printed. */
int wis_parse(const struct suite *s, const char *test, const char *text, size_t len,
	      const struct suite_param *params, size_t n, struct suite_output *out, struct err *e);

/** wis_test_mib() - MiB that one task of test number @i fills. */
unsigned wis_test_mib(size_t i);

#define WIS_CSV_HEADER "tasks,processes,processes_idle,threads,threads_idle,linear"

/** wis_parse_csv() - metrics from the table that begins with WIS_CSV_HEADER. */
void wis_parse_csv(const char *text, size_t len, const char *mode, struct suite_output *out);

extern const struct metric_def wis_per_process_ops, wis_per_thread_ops, wis_workload;
