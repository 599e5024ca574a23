/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/frame.h"

#include "bot/base/err.h"

#include <string.h>

/* Not ASCII in the last byte, so that text on the wire (a console, a log) never looks like it. */
static const unsigned char magic[4] = { 'k', 'p', 'F', 0xb7 };

static const struct {
	const char *name;
	size_t max;
} types[PROTO_TYPE_COUNT] = {
	[PROTO_HELLO] = { "hello", 65536 },	   [PROTO_JOB] = { "job", 262144 },
	[PROTO_RUN_START] = { "run-start", 4096 }, [PROTO_OUTPUT] = { "output", 65536 },
	[PROTO_RUN_END] = { "run-end", 131072 },   [PROTO_BEAT] = { "beat", 0 },
	[PROTO_FAULT] = { "fault", 16384 },	   [PROTO_BYE] = { "bye", 0 },
	[PROTO_READY] = { "ready", 131072 },	   [PROTO_STREAM] = { "stream", 4096 },
};

static bool type_is_known(int type)
{
	return type > 0 && type < PROTO_TYPE_COUNT;
}

size_t proto_type_max(int type)
{
	return type_is_known(type) ? types[type].max : 0;
}

const char *proto_type_name(int type)
{
	return type_is_known(type) ? types[type].name : "unknown";
}

uint32_t proto_crc32(uint32_t crc, const void *data, size_t len)
{
	/* Four bits at a time: a table of 64 bytes disturbs no cache that is being measured. */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const unsigned char *p = data;

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		crc = (crc >> 4) ^ table[crc & 15];
		crc = (crc >> 4) ^ table[crc & 15];
	}
	return ~crc;
}

static void put32(unsigned char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v |= (uint32_t)p[i] << (8 * i);
	return v;
}

/* The checksum covers type and length too: a damaged header is then damage like any other. */
static uint32_t frame_crc(const unsigned char *header, const void *payload, size_t len)
{
	return proto_crc32(proto_crc32(0, header + 4, 8), payload, len);
}

int proto_frame_add(struct strbuf *out, enum proto_type type, const void *payload, size_t len,
		    struct err *e)
{
	unsigned char header[PROTO_HEADER_SIZE] = { 0 };

	if (!type_is_known((int)type))
		return err_set(e, ERR_INVAL, "frame type %d is not known", (int)type);
	if (len > types[type].max)
		return err_set(e, ERR_TOO_BIG,
			       "a %s message of %zu bytes is above its limit of %zu",
			       types[type].name, len, types[type].max);
	memcpy(header, magic, sizeof(magic));
	header[4] = (unsigned char)type;
	put32(header + 8, (uint32_t)len);
	put32(header + 12, frame_crc(header, payload, len));
	strbuf_add(out, header, sizeof(header));
	if (len)
		strbuf_add(out, payload, len);
	return 0;
}

void proto_decoder_done(struct proto_decoder *d)
{
	if (!d)
		return;
	strbuf_done(&d->buf);
	memset(d, 0, sizeof(*d));
}

void proto_decoder_add(struct proto_decoder *d, const void *data, size_t len)
{
	if (d->broken || !len)
		return;
	if (d->pos) {
		memmove(d->buf.s, d->buf.s + d->pos, d->buf.len - d->pos);
		d->buf.len -= d->pos;
		d->pos = 0;
	}
	strbuf_add(&d->buf, data, len);
}

size_t proto_decoder_pending(const struct proto_decoder *d)
{
	return d->buf.len - d->pos;
}

/* Could a header start at @p, as far as its first @len bytes tell? */
static bool header_is_possible(const unsigned char *p, size_t len)
{
	size_t n = len < sizeof(magic) ? len : sizeof(magic);

	if (memcmp(p, magic, n) != 0)
		return false;
	if (len > 4 && !type_is_known(p[4]))
		return false;
	for (size_t i = 5; i < 8 && i < len; i++) {
		if (p[i])
			return false;
	}
	return len < 12 || get32(p + 8) <= types[p[4]].max;
}

int proto_decoder_next(struct proto_decoder *d, struct proto_frame *ret, struct err *e)
{
	while (!d->broken && d->pos < d->buf.len) {
		const unsigned char *p = (const unsigned char *)d->buf.s + d->pos;
		size_t left = d->buf.len - d->pos;
		uint32_t len;

		if (!header_is_possible(p, left)) {
			d->pos++;
			d->broken = ++d->skipped > PROTO_SKIP_MAX;
			continue;
		}
		if (left < PROTO_HEADER_SIZE)
			return 0;
		len = get32(p + 8);
		if (left - PROTO_HEADER_SIZE < len)
			return 0;
		if (frame_crc(p, p + PROTO_HEADER_SIZE, len) != get32(p + 12)) {
			d->pos++;
			d->skipped++;
			d->broken = ++d->bad > PROTO_BAD_MAX;
			continue;
		}
		ret->type = (enum proto_type)p[4];
		ret->payload = p + PROTO_HEADER_SIZE;
		ret->len = len;
		d->pos += PROTO_HEADER_SIZE + len;
		return 1;
	}
	if (d->broken)
		return err_set(e, ERR_FORMAT,
			       "too much garbage between messages: %zu bytes, %u wrong checksums",
			       d->skipped, d->bad);
	return 0;
}
