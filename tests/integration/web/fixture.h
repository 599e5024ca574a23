/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a small but complete life: trees, builds, runs, a regression, its bisection and mail. */
#pragma once

/* Made-up commits: 40 times one digit. */
#define H_BASE	"1111111111111111111111111111111111111111"
#define H_HEAD	"2222222222222222222222222222222222222222"
#define H_CULP	"3333333333333333333333333333333333333333"
#define H_EVIL	"4444444444444444444444444444444444444444"
#define H_BUILD "5555555555555555555555555555555555555555"

/** fixture_fill() - insert the rows; the tables are empty. */
void fixture_fill(void);
