/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outlet of a machine. Each action is read back where that is possible, and tried once more; what
 * the control says of itself counts less than what it reads.
 */
#pragma once

#include <stdbool.h>

struct err;
struct lab_power;

/** power_exists() - is there any control? */
bool power_exists(const struct lab_power *p);

/** power_check() - can it work at all? ERR_CONFIG says what is missing or too much. */
int power_check(const struct lab_power *p, struct err *e);

/**
 * power_read() - is the machine on?
 * Return: 0; ERR_UNSUPPORTED when it cannot be read; ERR_LAB with the last line that was printed.
 */
int power_read(const struct lab_power *p, bool *ret_on, struct err *e);

/**
 * power_set() - switch on or off, read back, and once more if that failed.
 * @cancel: as in struct lab_request; NULL: never. It ends waiting, not an action.
 *
 * Return: 0; ERR_LAB with the last line that was printed; ERR_LEASE_LOST when the machine is no longer
 * ours, and then nothing was done; ERR_CANCELLED.
 */
int power_set(const struct lab_power *p, bool on, const volatile int *cancel, struct err *e);

/**
 * power_cycle() - off, off for @p->off_s at least, on; all of it once more if that failed.
 * Return: as power_set(). After ERR_LAB it was told to be off.
 */
int power_cycle(const struct lab_power *p, const volatile int *cancel, struct err *e);
