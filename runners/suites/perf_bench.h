/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the suites that run perf bench. */
#pragma once

#include "runners/suites/internal.h"

/* Rows of perf_*_metrics, for the parsers. */
enum {
	PERF_TOTAL,
	PERF_USECS,
	PERF_OPS
};
enum {
	FUTEX_OPS,
	FUTEX_STDDEV,
	FUTEX_WAKE,
	FUTEX_REQUEUE
};

extern const struct suite_metric_info perf_sched_messaging_metrics[], perf_sched_pipe_metrics[],
	perf_syscall_metrics[], perf_futex_metrics[], perf_epoll_metrics[], perf_mem_metrics[],
	perf_numa_mem_metrics[];

/** perf_*_parse() - suite_parse() for one collection of benchmarks. */
int perf_total_parse(const struct suite *s, const char *test, const char *text, size_t len,
		     const struct suite_param *params, size_t n, struct suite_output *out,
		     struct err *e);
int perf_threads_parse(const struct suite *s, const char *test, const char *text, size_t len,
		       const struct suite_param *params, size_t n, struct suite_output *out,
		       struct err *e);
int perf_mem_parse(const struct suite *s, const char *test, const char *text, size_t len,
		   const struct suite_param *params, size_t n, struct suite_output *out,
		   struct err *e);
int perf_numa_mem_parse(const struct suite *s, const char *test, const char *text, size_t len,
			const struct suite_param *params, size_t n, struct suite_output *out,
			struct err *e);
