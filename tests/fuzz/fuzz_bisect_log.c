/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs of bisections, our own and git's; what is read is followed, if it is small. */
#include "bisect/log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const struct bisect_log *log)
{
	struct bisect_state s;
	struct bisect_step step = { 0 };
	bool ok = true;

	if (log->graph.n > 64 || log->n_events > 64 || bisect_log_start(log, &s, NULL) < 0)
		return;
	for (size_t i = 0; ok && i < log->n_events; i++)
		ok = bisect_log_apply(&s, &log->events[i], NULL) == 0;
	if (ok && bisect_next(&s, &step, NULL) == 0)
		free(bisect_log_git(&s, "good", &step, NULL));
	bisect_step_done(&step);
	free(bisect_log_write(&s, log->good, NULL));
	bisect_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct bisect_log log;
	struct bisect_git_log git;

	if (bisect_log_read(text, size, &log, NULL) == 0) {
		follow(&log);
		bisect_log_done(&log);
	}
	(void)bisect_git_log_is(text, size);
	if (bisect_git_log_read(text, size, &git, NULL) == 0)
		bisect_git_log_done(&git);
	return 0;
}
