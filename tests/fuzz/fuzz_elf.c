/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/strbuf.h"
#include "bot/build/elf.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf code = STRBUF_INIT;
	char id[129];

	(void)elf_build_id(data, size, id, NULL);
	(void)elf_code(data, size, &code, NULL);
	return 0;
}
