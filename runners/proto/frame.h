/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames over a byte stream: magic, type, length, checksum, payload. Pure. */
#pragma once

#include "bot/base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/** PROTO_VERSION - both sides must say the same number in their first message. */
#define PROTO_VERSION 2

/** PROTO_HEADER_SIZE - 4 bytes magic, 1 type, 3 zero, 4 length, 4 CRC-32; numbers little-endian. */
#define PROTO_HEADER_SIZE 16

/** PROTO_BAD_MAX - wrong checksums after which a decoder gives up: each may cost a full payload. */
#define PROTO_BAD_MAX 64

/** PROTO_SKIP_MAX - bytes of garbage after which a decoder gives up. */
#define PROTO_SKIP_MAX (1u << 20)

enum proto_type {
	PROTO_HELLO = 1, /* agent: who I am, and the facts of the machine; JSON */
	PROTO_JOB,	 /* driver: what to run; JSON */
	PROTO_RUN_START, /* agent: run N begins; JSON */
	PROTO_OUTPUT,  /* agent: one byte stream (1 stdout, 2 stderr, 3… named), then raw bytes */
	PROTO_RUN_END, /* agent: how run N ended; JSON */
	PROTO_BEAT,    /* agent: still alive; empty */
	PROTO_FAULT,   /* agent: something of the machine or the agent went wrong; JSON */
	PROTO_BYE,     /* agent: nothing more will come; empty */
	PROTO_READY,   /* agent: the settings are in force; JSON */
	PROTO_STREAM,  /* agent: names a stream of the open run beside stdout and stderr; JSON */
	PROTO_TYPE_COUNT
};

/** proto_type_max() - longest payload of a type, bytes; 0 for BEAT, BYE and what is no type. */
size_t proto_type_max(int type);

/** proto_type_name() - "hello" and so on, "unknown" otherwise. Static string. */
const char *proto_type_name(int type);

/** proto_crc32() - CRC-32 (IEEE 802.3, reflected, as in zlib) of @data continued from @crc (0). */
uint32_t proto_crc32(uint32_t crc, const void *data, size_t len);

/**
 * proto_frame_add() - append one frame to @out.
 * Return: 0; ERR_TOO_BIG if @len is above proto_type_max(), ERR_INVAL for an unknown type;
 * @out is then unchanged.
 */
int proto_frame_add(struct strbuf *out, enum proto_type type, const void *payload, size_t len,
		    struct err *e);

/** struct proto_frame - one frame; @payload is valid until the next call on its decoder. */
struct proto_frame {
	enum proto_type type;
	const unsigned char *payload;
	size_t len;
};

/**
 * struct proto_decoder - finds frames in a stream that arrives in any pieces.
 * @buf: bytes not yet decoded; holds at most one frame and what was added last.
 * @pos: start of what is not yet decoded in @buf.
 * @skipped: bytes of garbage between frames so far.
 * @bad: headers so far whose checksum did not fit.
 * @broken: gave up; every later call fails.
 *
 * Caller-owned, zero-initialised. Garbage is skipped byte by byte until a whole header with a right
 * checksum is found, so that a lying length costs at most one frame's length of waiting.
 */
struct proto_decoder {
	struct strbuf buf;
	size_t pos;
	size_t skipped;
	unsigned bad;
	bool broken;
};

void proto_decoder_done(struct proto_decoder *d);

/** proto_decoder_add() - give the decoder the next @len bytes of the stream. */
void proto_decoder_add(struct proto_decoder *d, const void *data, size_t len);

/**
 * proto_decoder_next() - take the next frame.
 * @ret: filled when 1 is returned; its payload belongs to @d.
 *
 * Return: 1 with a frame; 0 when more bytes are needed; ERR_FORMAT when there was more garbage
 * than PROTO_SKIP_MAX or PROTO_BAD_MAX allow, and from then on.
 */
int proto_decoder_next(struct proto_decoder *d, struct proto_frame *ret, struct err *e);

/** proto_decoder_pending() - bytes of an unfinished frame (or garbage) that wait for more. */
size_t proto_decoder_pending(const struct proto_decoder *d);
