/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels and likelihoods. Inside of the library. */
#pragma once

#include "bisect/eval.h"

/** bisect_grid_fill() - sigma, grid and nodes of @v from the runs of @s. */
void bisect_grid_fill(struct bisect_eval *v, const struct bisect_state *s);
