/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A regression as JSON, composed to a mail that SMTP can take. */
#include "bot/base/err.h"
#include "bot/mail/compose.h"
#include "bot/mail/wire.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct compose_input in;
	struct compose_mail m;

	compose_setup();
	if (root && compose_input_from_json(root, &in, NULL) == 0) {
		int r = compose_report(&in, &m, NULL);

		if (r == 0) {
			if (wire_check(m.bytes, m.len, NULL) < 0)
				abort();
			compose_mail_done(&m);
		} else if (r != ERR_INVAL) {
			abort();
		}
		compose_input_done(&in);
	}
	json_decref(root);
	return 0;
}
