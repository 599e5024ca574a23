/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output of will-it-scale and of its wrapper scripts. */
#include "tests/fuzz/suite_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	suite_check_output("will-it-scale", data, size);
	return 0;
}
