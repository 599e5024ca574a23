/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GNU build id in a run of ELF notes, as in /sys/kernel/notes. Pure. */
#pragma once

#include <stddef.h>

struct err;

/** PROTO_BUILD_ID_MAX - longest build id that is believed, bytes (SHA-512 would be 64). */
#define PROTO_BUILD_ID_MAX 64

/**
 * proto_build_id_find() - look for the note of owner "GNU" and type 3 (NT_GNU_BUILD_ID).
 * @notes: little-endian ELF notes as a 64-bit or 32-bit kernel shows them; borrowed.
 * @ret_hex: lower-case hex, to be freed with free().
 *
 * Return: 0; ERR_NOENT without such a note; ERR_PARSE when a length leads out of @len.
 */
int proto_build_id_find(const void *notes, size_t len, char **ret_hex, struct err *e);
