/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the saved state and the log have in common. Inside of the library. */
#pragma once

#include "bisect/bisect.h"

#include <jansson.h>

/** BISECT_GOOD_NAME - the good end in texts; hashes are never that. */
#define BISECT_GOOD_NAME "good"

/** bisect_commit_name() - hash, or the name of the good end; belongs to @s. */
const char *bisect_commit_name(const struct bisect_state *s, int commit);

/** bisect_params_json() - a new reference. bisect_params_from_json(): ERR_PARSE names the value. */
json_t *bisect_params_json(const struct bisect_params *p);
int bisect_params_from_json(const json_t *o, struct bisect_params *p, struct err *e);

/** bisect_skip_by_name() - of bisect_skip_name(); ERR_PARSE for any other. */
int bisect_skip_by_name(const char *name, enum bisect_skip *ret, struct err *e);
