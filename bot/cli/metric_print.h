/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics and problems of outputs and recordings, as JSON and for people. */
#pragma once

#include <jansson.h>

struct cli;
struct suite_metric;
struct suite_output;
struct suite_problem;

/** number_json() - whole numbers without a point: rates are, mostly. */
json_t *number_json(double v);

/** metric_json(), problem_json() - an object; its own reference. */
json_t *metric_json(const struct suite_metric *m);
json_t *problem_json(const struct suite_problem *p);

/** metrics_print() - lines for people on stdout, problems of @file as notes on stderr. */
void metrics_print(const struct cli *cli, const char *file, const struct suite_output *out);
