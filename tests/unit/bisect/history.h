/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories in the shape of a kernel's merge window, made from a seed. */
#pragma once

#include "bisect/graph.h"

/**
 * history_make() - a prepared graph of @n commits with merges.
 *
 * The first-parent line is merges of topic branches, most of which start before the good end; their
 * lengths are spread as widely as those of real pulls (a median of 8, one in fifty above 100), and
 * they merge branches of their own, three levels deep. One commit in about nine is a merge.
 */
void history_make(struct bisect_graph *g, size_t n, uint64_t seed);

/** history_random() - the generator behind it: uniform in [0, 1). */
double history_random(uint64_t *seed);
