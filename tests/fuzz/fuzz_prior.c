/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two versions of a source file, and two lists of objects, parted by the first "\n@@\n". */
#include "bisect/prior.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a.c", "Kconfig", "a.txt" };
	const char *a = (const char *)data;
	const char *mark = size ? memmem(a, size, "\n@@\n", 4) : NULL;
	size_t a_len = mark ? (size_t)(mark - a) : size;
	const char *b = mark ? mark + 4 : a;
	size_t b_len = mark ? size - a_len - 4 : size;
	struct prior_set same;
	bool equal;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool r = prior_same_code(names[i], a, a_len, b, b_len);

		/* The same both ways, and of equal files when the kind of file is known. */
		if (r != prior_same_code(names[i], b, b_len, a, a_len) ||
		    prior_same_code(names[i], a, a_len, a, a_len) != (i < 2))
			abort();
	}
	equal = prior_same_objects(a, a_len, b, b_len, &same);
	if (equal && (a_len != b_len || !a_len))
		abort();
	for (size_t i = 0; i < same.n; i++)
		if (!prior_set_has(&same, same.items[i]))
			abort();
	prior_set_done(&same);
	return 0;
}
