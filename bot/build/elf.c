/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/build/elf.h"

#include "bot/base/err.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BUILD_ID_MAX 64

static bool inside(size_t len, uint64_t off, uint64_t size)
{
	return off <= len && size <= len - off;
}

/* Notes are padded to four bytes; gcc and ld write them so on x86 even where @p_align is 8. */
static uint64_t pad(uint32_t n)
{
	return ((uint64_t)n + 3) & ~(uint64_t)3;
}

static bool find_in_notes(const unsigned char *p, size_t len, char ret[129])
{
	static const char digits[] = "0123456789abcdef";
	Elf64_Nhdr n;

	while (len >= sizeof(n)) {
		uint64_t name_len;
		uint64_t desc_len;

		memcpy(&n, p, sizeof(n));
		p += sizeof(n);
		len -= sizeof(n);
		name_len = pad(n.n_namesz);
		desc_len = pad(n.n_descsz);
		if (name_len > len || desc_len > len - name_len)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(p, "GNU", 4) == 0 &&
		    n.n_descsz > 0 && n.n_descsz <= BUILD_ID_MAX) {
			for (size_t i = 0; i < n.n_descsz; i++) {
				ret[2 * i] = digits[p[name_len + i] >> 4];
				ret[2 * i + 1] = digits[p[name_len + i] & 15];
			}
			ret[2 * (size_t)n.n_descsz] = '\0';
			return true;
		}
		p += name_len + desc_len;
		len -= name_len + desc_len;
	}
	return false;
}

int elf_build_id(const void *data, size_t len, char ret[129], struct err *e)
{
	const unsigned char *p = data;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (len < sizeof(eh) || memcmp(p, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_PARSE, "not an ELF file");
	memcpy(&eh, p, sizeof(eh));
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_PARSE, "not a 64-bit little-endian ELF file");
	if (eh.e_phentsize != sizeof(ph) ||
	    !inside(len, eh.e_phoff, (uint64_t)eh.e_phnum * sizeof(ph)))
		return err_set(e, ERR_PARSE, "ELF program headers lie outside the file");
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_NOTE || !inside(len, ph.p_offset, ph.p_filesz))
			continue;
		if (find_in_notes(p + ph.p_offset, ph.p_filesz, ret))
			return 0;
	}
	return err_set(e, ERR_NOENT, "no GNU build id");
}
