/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The little of QEMU's machine protocol that tells why a guest ended. */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>

struct err;

/**
 * struct qmp - one connection. Caller-owned, zero-initialised.
 * @in: an unfinished line; @out: commands to send, emptied by the caller.
 * @greeted: QEMU spoke first, as it has to; the guest is started in answer.
 * @running: QEMU said that the guest runs.
 * @shutdown: reason of the SHUTDOWN event ("guest-shutdown", "guest-reset", …), or "".
 * @stopped: state that the guest stopped in without being asked ("internal-error", …), or "".
 */
struct qmp {
	struct strbuf in, out;
	bool greeted, running;
	char shutdown[64];
	char stopped[64];
};

/** QMP_LINE_MAX - longest line that is believed, bytes. */
#define QMP_LINE_MAX 65536

/** qmp_add() - the next bytes from QEMU. Return: 0; ERR_PARSE, ERR_TOO_BIG if it is not QMP. */
int qmp_add(struct qmp *q, const void *data, size_t len, struct err *e);

void qmp_done(struct qmp *q);
