/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/lsremote.h"

#include <git2.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lsremote l;

	(void)git_libgit2_init();
	if (lsremote_parse((const char *)data, size, &l, NULL) == 0)
		lsremote_done(&l);
	return 0;
}
