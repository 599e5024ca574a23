/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an agent sends to its driver. First byte: size of the pieces that arrive. Frames are given a
 * right checksum on the way, or nothing would ever get past it: each input is a list of type, length
 * (2 bytes, little-endian) and payload, after a hello and a ready message that are in order.
 */
#include "bot/base/strbuf.h"
#include "runners/drivers/session.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct strbuf *b, enum proto_type type, const char *json)
{
	(void)proto_frame_add(b, type, json, strlen(json), NULL);
}

static void talk(const char *bytes, size_t len, size_t step)
{
	static const struct lab_machine machine = { .name = "m", .driver = "local" };
	static const struct lab_request request = {
		.suite = "will-it-scale", .test = "getppid1", .runs = 2, .nonce = "n"
	};
	struct lab_result result = { 0 };
	struct session s;

	session_init(&s, &machine, &request, &result, false);
	for (size_t pos = 0; pos < len; pos += step) {
		if (session_add(&s, bytes + pos, step < len - pos ? step : len - pos, NULL) < 0)
			break;
	}
	session_end(&s);
	session_done(&s);
	lab_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf b = STRBUF_INIT;
	size_t pos = 2;

	if (size < 2)
		return 0;
	/* The second byte: how much of the beginning is in order. */
	if (data[1] & 1)
		add(&b, PROTO_HELLO,
		    "{\"version\":2,\"cpus\":2,\"mem_total_bytes\":1000000000,"
		    "\"mem_available_bytes\":1000000000,\"swap_total_bytes\":0,"
		    "\"release\":\"6\",\"nonce\":\"n\"}");
	if (data[1] & 2)
		add(&b, PROTO_READY, "{}");
	if (data[1] & 4)
		add(&b, PROTO_RUN_START, "{\"run\":0}");
	if (data[1] & 8)
		add(&b, PROTO_STREAM, "{\"stream\":3,\"name\":\"file/a\"}");
	while (size - pos >= 3) {
		size_t len = data[pos + 1] | (size_t)data[pos + 2] << 8;
		enum proto_type type = (enum proto_type)data[pos];

		pos += 3;
		if (len > size - pos)
			len = size - pos;
		/* What is no frame goes as it is. */
		if (proto_frame_add(&b, type, data + pos, len, NULL) < 0)
			strbuf_add(&b, data + pos, len);
		pos += len;
	}
	talk(strbuf_str(&b), b.len, (size_t)data[0] + 1);
	strbuf_done(&b);
	return 0;
}
