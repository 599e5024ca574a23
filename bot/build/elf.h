/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one thing that we want to know about an ELF file. */
#pragma once

#include <stddef.h>

struct err;

/**
 * elf_build_id() - GNU build id from the note segments of a 64-bit ELF file of this byte order.
 * @data: the file, from an untrusted side.
 * @ret: lower-case hex.
 *
 * Calls nothing but memory functions. Return: 0; ERR_PARSE; ERR_NOENT if there is none.
 */
int elf_build_id(const void *data, size_t len, char ret[129], struct err *e);
