/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of what the kernel accounts to processes. */
#pragma once

#include <jansson.h>
#include <sys/resource.h>

/** struct usage - zero at first. */
struct usage {
	struct rusage sum;
};

/** usage_add() - one more process that was waited for. */
void usage_add(struct usage *s, const struct rusage *u);

/** usage_json() - the members of struct proto_run_end's rusage. */
json_t *usage_json(const struct usage *s);
