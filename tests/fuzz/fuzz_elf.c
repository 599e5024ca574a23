/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/build/elf.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char id[129];

	(void)elf_build_id(data, size, id, NULL);
	return 0;
}
