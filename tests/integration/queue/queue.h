/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the queue share. */
#pragma once

#include "bot/store/work.h"

#include <stdint.h>

struct db;

/** queue_num() - the one number that a literal query gives. queue_text(): the text; free() it. */
int64_t queue_num(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *queue_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** queue_add() - a row of kind @kind ready now. Return: its id. */
int64_t queue_add(const char *kind, int prio, const char *dedupe);

/** queue_claim() - claim one row of @kind as @owner for a minute; fails the test when there is none. */
struct work queue_claim(const char *kind, const char *owner);

/** queue_expire() - let the lease of row @id, and of the machine held with it, run out. */
void queue_expire(int64_t id);

/** queue_due() - let the time come at which row @id may be claimed. */
void queue_due(int64_t id);

/** queue_reset() - cmocka set-up: empty tables. */
int queue_reset(void **state);

/** queue_connect() - a connection of a forked process; exits with 90 when it cannot. */
struct db *queue_connect(void);
