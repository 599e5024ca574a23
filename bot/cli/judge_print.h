/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kperfbot judge says to people. */
#pragma once

struct cli;
struct judged;

/**
 * judge_visible() - names and units are from outside: on one line, and without what steers a
 * terminal. Return: free() it.
 */
char *judge_visible(const char *text);

/** judge_print() - findings, then each metric by its verdict, then how many facts of each. */
void judge_print(const struct cli *cli, const struct judged *j);
