/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that benchmarks leave in places that they have written into them. */
#pragma once

#include <time.h>

/**
 * sweep() - remove what will-it-scale leaves in /tmp and /dev/shm when it is killed.
 * @since: by the wall clock; what did not change since then is somebody else's.
 *
 * Only names that begin with "willitscale.", and what is our user's.
 * Return: how many were removed.
 */
unsigned sweep(time_t since);
