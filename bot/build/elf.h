/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two things that we want to know about ELF files. */
#pragma once

#include <stddef.h>

struct err;
struct strbuf;

/**
 * elf_build_id() - GNU build id from the note segments of a 64-bit ELF file of this byte order.
 * @data: the file, from an untrusted side.
 * @ret: lower-case hex.
 *
 * Calls nothing but memory functions. Return: 0; ERR_PARSE; ERR_NOENT if there is none.
 */
int elf_build_id(const void *data, size_t len, char ret[129], struct err *e);

/**
 * elf_code() - what of an object file gets into the running kernel, in a form to be compared.
 * @data: a 64-bit relocatable file of this byte order, from an untrusted side.
 * @ret: appended to: sections that are loaded, their relocations by name or by section and offset,
 *	names that others may link to. Not: debug data, notes, names that only this file sees, stack
 *	unwinding, and tables with line numbers in them (of BUG() and pr_debug()).
 *
 * Equal bytes: the code does the same. Different bytes say little: a line number may be anywhere.
 * Calls nothing but memory functions; @ret gets at most a few times @len bytes.
 * Return: 0; ERR_PARSE; ERR_TOO_BIG for a file that says the same bytes again and again.
 */
int elf_code(const void *data, size_t len, struct strbuf *ret, struct err *e);
