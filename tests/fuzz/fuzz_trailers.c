/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commit messages, read for their trailers and written as JSON. */
#include "bot/base/cleanup.h"
#include "bot/mail/trailers.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trailers t;
	json_t *j;
	char *text;

	if (trailers_parse((const char *)data, size, &t, NULL) < 0)
		return 0;
	(void)trailers_patch_id(&t);
	j = trailers_to_json(&t);
	text = json_dumps(j, JSON_COMPACT);
	/* clean text is valid UTF-8, so jansson takes all of it */
	if (!text)
		abort();
	free(text);
	json_decref(j);
	trailers_done(&t);
	return 0;
}
