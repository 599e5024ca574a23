/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/bench_detect.h"
void bench_many(double scale)
{
	(void)scale;
}
void bench_looks(double scale)
{
	(void)scale;
}
