/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/build_id.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <stdint.h>
#include <string.h>

#define NOTE_GNU_BUILD_ID 3

static uint32_t get32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

int proto_build_id_find(const void *notes, size_t len, char **ret_hex, struct err *e)
{
	const unsigned char *p = notes;
	size_t pos = 0;

	/* Each note: name size, descriptor size, type, then both, each filled up to 4 bytes. */
	while (len - pos >= 12) {
		size_t namesz = get32(p + pos), descsz = get32(p + pos + 4);
		uint32_t type = get32(p + pos + 8);
		size_t name = pos + 12, desc;

		if (namesz > len - name || align4(namesz) > len - name)
			return err_set(e, ERR_PARSE,
				       "kernel note at byte %zu has a name of %zu bytes", pos,
				       namesz);
		desc = name + align4(namesz);
		if (descsz > len - desc)
			return err_set(e, ERR_PARSE,
				       "kernel note at byte %zu has %zu bytes of data", pos,
				       descsz);
		if (type == NOTE_GNU_BUILD_ID && namesz == 4 && !memcmp(p + name, "GNU", 4) &&
		    descsz > 0 && descsz <= PROTO_BUILD_ID_MAX) {
			_cleanup_(strbuf_done) struct strbuf hex = STRBUF_INIT;

			for (size_t i = 0; i < descsz; i++)
				strbuf_addf(&hex, "%02x", p[desc + i]);
			*ret_hex = strbuf_take(&hex);
			return 0;
		}
		if (align4(descsz) > len - desc)
			break;
		pos = desc + align4(descsz);
	}
	return err_set(e, ERR_NOENT, "no GNU build id in %zu bytes of kernel notes", len);
}
