/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of findings. */
#pragma once

#include "bot/detect/findings.h"

/** findings_prefix() - bytes of a name up to its first dot and with it; 0 without a dot. */
size_t findings_prefix(const char *name);
bool findings_same_prefix(const char *a, const char *b);

/** findings_is_amount() - does it grow with the work done? */
bool findings_is_amount(const struct findings_metric *m);

/** findings_work_differs() - did the two sides do a different amount of @work? */
bool findings_work_differs(const struct findings_metric *m, size_t n, size_t work);

/** findings_has_number() - has the name a number that stands for itself, such as 104.processes? */
bool findings_has_number(const char *name);

/** findings_ladders() - one finding for each set of leads whose names differ in a number only. */
void findings_ladders(const struct findings_metric *m, size_t n, struct findings *f);

/** findings_tell() - the sentences of all findings. */
void findings_tell(const struct findings_metric *m, size_t n, struct findings *f);
