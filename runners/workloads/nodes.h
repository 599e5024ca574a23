/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NUMA nodes, without a library: the system calls and the lists of /sys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NODES_MAX 1024

/** struct node_mask - as set_mempolicy() and the like take it. */
struct node_mask {
	unsigned long bits[NODES_MAX / (8 * sizeof(unsigned long))];
};

/** nodes_read() - numbers of the nodes with memory in @ret, at most @max. Return: how many; >= 1. */
size_t nodes_read(int *ret, size_t max);

/** cpu_list_each() - call @fn for each number of a list such as "0-3,8". */
void cpu_list_each(const char *list, void (*fn)(int nr, void *arg), void *arg);

void node_mask_set(struct node_mask *m, int node);

/** memory_policy() - for the calling thread: MPOL_BIND, MPOL_INTERLEAVE. Dies on failure. */
void memory_policy(int mode, const struct node_mask *m);
