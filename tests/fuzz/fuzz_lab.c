/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a guest writes to its console, and what QEMU says over QMP. First byte: size of the pieces. */
#include "runners/drivers/console.h"
#include "runners/drivers/qmp.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct console c = { 0 };
	struct qmp q = { 0 };
	const char *line;
	size_t step, len;
	int r = 0;

	if (size < 1)
		return 0;
	step = (size_t)data[0] + 1;
	for (size_t pos = 1; pos < size; pos += step) {
		size_t n = step < size - pos ? step : size - pos;

		console_add(&c, data + pos, n);
		if (r == 0)
			r = qmp_add(&q, data + pos, n, NULL);
	}
	(void)console_class(&c, size % 2, &line);
	free(console_text(&c, &len));
	console_forget(&c);
	console_done(&c);
	qmp_done(&q);
	return 0;
}
