/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lab_boot() chooses from, and what the drivers share. */
#pragma once

#include "runners/drivers/driver.h"

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/** qemu_boot() and so on - lab_boot() for one driver; the request is checked already. */
int qemu_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	      struct err *e);
int netboot_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
		 struct err *e);
int ssh_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	     struct err *e);
int local_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	       struct err *e);

/** setting_check() - can a setting with this value be meant? ERR_INVAL names the choices. */
int setting_check(const char *key, const char *value, struct err *e);

/** setting_get() - value of setting @key of @q, or NULL. */
const char *setting_get(const struct lab_request *q, const char *key);

/** driver_progress() - tell the request's progress(), if there is one. */
void driver_progress(const struct lab_request *q, enum lab_state state);

/** driver_now_s() - seconds of a clock that runs on in suspend. */
double driver_now_s(void);

/** driver_pair() - a connected pair of sockets: ours (non-blocking) and the child's. */
int driver_pair(int *ret_ours, int *ret_theirs, struct err *e);

/**
 * driver_read() - read at most @size bytes that are there now.
 * Return: bytes; 0 when nothing is there; -1 when the other side is gone.
 */
long driver_read(int fd, char *buf, size_t size);

/** driver_send() - send as much of @b as goes now and remove it. False when the line is gone. */
bool driver_send(int fd, struct strbuf *b);

/** driver_timeout_s() - @s, or @missing where it is 0. */
double driver_timeout_s(double s, double missing);
