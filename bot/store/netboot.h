/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What machines that boot over the network are offered, and the bytes to and from their agents. Role
 * lab writes offers and takes bytes, role web hands them out: they meet only in these rows.
 *
 * Bytes are numbered from 0 in each direction, and every call names the number that it begins with,
 * so that each call may be repeated after a lost answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct strbuf;

/** NETBOOT_SECRET_LEN - hex digits of a secret: 128 bits. */
#define NETBOOT_SECRET_LEN 32

/** NETBOOT_WAITING_MAX, NETBOOT_TOTAL_MAX - bytes that an agent may send ahead of the reader, and in all. */
#define NETBOOT_WAITING_MAX (INT64_C(64) << 20)
#define NETBOOT_TOTAL_MAX   (INT64_C(1) << 30)

/**
 * struct netboot_offer - one offer; borrowed.
 * @secret: NETBOOT_SECRET_LEN lower-case hex digits, never used before.
 * @fence: of the lease on the machine.
 */
struct netboot_offer {
	const char *machine, *mac, *secret, *append;
	const char *kernel, *initrd;
	int64_t fence;
};

/** netboot_offer() - put it up in place of what was there. ERR_LEASE_LOST. */
int netboot_offer(struct db *db, const struct netboot_offer *o, struct err *e);

/** netboot_withdraw() - take it back; no error when it is gone. */
int netboot_withdraw(struct db *db, const char *machine, const char *secret, struct err *e);

/** netboot_held() - ERR_LEASE_LOST when @machine is no longer held with @fence. */
int netboot_held(struct db *db, const char *machine, int64_t fence, struct err *e);

/**
 * netboot_take() - what the agent sent from byte @at on, at most a few MiB, appended to @ret.
 * @ret_events: NETBOOT_ bits of runners/drivers/driver.h; from bit 8 on, how often the script was asked for.
 *
 * What was sent before @at is deleted. ERR_LEASE_LOST; ERR_IO when a piece is missing.
 */
int netboot_take(struct db *db, const struct netboot_offer *o, int64_t at, struct strbuf *ret,
		 unsigned *ret_events, struct err *e);

/** netboot_send() - @data are the bytes for the agent from byte @at on. ERR_LEASE_LOST. */
int netboot_send(struct db *db, const struct netboot_offer *o, int64_t at, const void *data,
		 size_t len, struct err *e);

/** struct netboot_script - what a machine that asks is told; netboot_script_done() frees it. */
struct netboot_script {
	char *machine, *secret, *append;
	unsigned events; /* as they were before */
};

/** netboot_script() - for the machine with that address; notes @bits. ERR_NOENT: nothing is offered. */
int netboot_script(struct db *db, const char *mac, unsigned bits, struct netboot_script *ret,
		   struct err *e);
void netboot_script_done(struct netboot_script *s);

/** netboot_find() - whose offer has this secret? Takes the same time for each. free() @ret. ERR_NOENT. */
int netboot_find(struct db *db, const char *secret, char **ret_machine, struct err *e);

/** netboot_fetch() - the files that are offered; notes @bits, 0 for none. ERR_NOENT. */
int netboot_fetch(struct db *db, const char *machine, const char *secret, unsigned bits,
		  char ret_kernel[65], char ret_initrd[65], struct err *e);

/**
 * netboot_add() - the agent's bytes from @at on.
 * @ret_stored: were they? Not when @at is not the number of bytes so far, or when there are too many.
 */
int netboot_add(struct db *db, const char *machine, const char *secret, int64_t at,
		const void *data, size_t len, bool *ret_stored, struct err *e);

/**
 * netboot_answer() - the bytes for the agent from @from on, appended to @ret.
 * @ret_received: bytes that the agent has sent so far. ERR_NOENT.
 */
int netboot_answer(struct db *db, const char *machine, const char *secret, int64_t from,
		   int64_t *ret_received, struct strbuf *ret, struct err *e);

/**
 * netboot_mac_parse() - "52:54:00:12:34:56", also with '-' or capitals, to lower case with colons.
 * Return: 0; ERR_PARSE.
 */
int netboot_mac_parse(const char *s, char ret[18], struct err *e);
