/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output of usemem, dd and the helper programs of vm-scalability. */
#include "tests/fuzz/suite_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	suite_check_output("vm-scalability", data, size);
	return 0;
}
