/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/build/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One object file. @limit: bytes of @out that are enough for any honest one. */
struct object {
	const unsigned char *p;
	size_t len;
	Elf64_Ehdr eh;
	Elf64_Shdr names;
	struct strbuf *out;
	size_t limit;
};

static bool inside(const struct object *o, uint64_t off, uint64_t size)
{
	return off <= o->len && size <= o->len - off;
}

/* Section headers may lie at any address, so they are copied. */
static Elf64_Shdr section(const struct object *o, size_t i)
{
	Elf64_Shdr sh;

	memcpy(&sh, o->p + o->eh.e_shoff + i * sizeof(sh), sizeof(sh));
	return sh;
}

/* A string of a string table, or "". */
static const char *string_at(const struct object *o, const Elf64_Shdr *table, uint64_t off,
			     size_t *ret_len)
{
	const char *s;

	*ret_len = 0;
	if (table->sh_type != SHT_STRTAB || !inside(o, table->sh_offset, table->sh_size) ||
	    off >= table->sh_size)
		return "";
	s = (const char *)o->p + table->sh_offset + off;
	*ret_len = strnlen(s, table->sh_size - off);
	return s;
}

static void add_name(const struct object *o, const Elf64_Shdr *table, uint64_t off)
{
	size_t len;
	const char *s = string_at(o, table, off, &len);

	strbuf_add(o->out, s, len);
	strbuf_addch(o->out, '\0');
}

/* Loaded, but not run: or with the numbers of source lines in it. */
static bool is_noise(const char *name, size_t len)
{
	static const char *const prefixes[] = {
		".discard", ".orc_",	   ".note",    ".comment",
		".modinfo", "__bug_table", "__dyndbg", "__versions"
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (len >= n && memcmp(name, prefixes[i], n) == 0)
			return true;
	}
	return false;
}

static bool counts(const struct object *o, const Elf64_Shdr *sh)
{
	size_t len;
	const char *name = string_at(o, &o->names, sh->sh_name, &len);

	return (sh->sh_flags & SHF_ALLOC) && sh->sh_type != SHT_NOTE && !is_noise(name, len);
}

static int add_content(const struct object *o, const Elf64_Shdr *sh, struct err *e)
{
	const uint64_t head[] = { sh->sh_type, sh->sh_flags, sh->sh_size, sh->sh_addralign };

	add_name(o, &o->names, sh->sh_name);
	strbuf_add(o->out, head, sizeof(head));
	if (sh->sh_type == SHT_NOBITS)
		return 0;
	if (!inside(o, sh->sh_offset, sh->sh_size))
		return err_set(e, ERR_PARSE, "ELF section lies outside the file");
	strbuf_add(o->out, o->p + sh->sh_offset, sh->sh_size);
	return 0;
}

/*
 * What a relocation means: a name that is looked up elsewhere, or a place in this file, for which
 * its section stands and not its name, since the compiler numbers names as it likes.
 */
static void add_symbol(const struct object *o, const Elf64_Shdr *strings, const Elf64_Sym *sym)
{
	bool placed = sym->st_shndx != SHN_UNDEF && sym->st_shndx < o->eh.e_shnum;

	if (ELF64_ST_BIND(sym->st_info) != STB_LOCAL || !placed)
		add_name(o, strings, sym->st_name);
	if (placed) {
		Elf64_Shdr home = section(o, sym->st_shndx);

		add_name(o, &o->names, home.sh_name);
	}
	strbuf_add(o->out, &sym->st_value, sizeof(sym->st_value));
}

/* Table of symbols @index and its strings; false: there is none. */
static bool symbols(const struct object *o, size_t index, Elf64_Shdr *ret, Elf64_Shdr *ret_strings)
{
	if (index >= o->eh.e_shnum)
		return false;
	*ret = section(o, index);
	if (ret->sh_type != SHT_SYMTAB || ret->sh_link >= o->eh.e_shnum ||
	    !inside(o, ret->sh_offset, ret->sh_size))
		return false;
	*ret_strings = section(o, ret->sh_link);
	return true;
}

static int check_size(const struct object *o, struct err *e)
{
	return o->out->len > o->limit
		       ? err_set(e, ERR_TOO_BIG, "ELF file uses the same bytes many times")
		       : 0;
}

static int add_relocations(const struct object *o, const Elf64_Shdr *sh, struct err *e)
{
	Elf64_Shdr target;
	Elf64_Shdr table;
	Elf64_Shdr strings;
	size_t n = sh->sh_size / sizeof(Elf64_Rela);
	int r = 0;

	if (sh->sh_info >= o->eh.e_shnum || !inside(o, sh->sh_offset, sh->sh_size) ||
	    !symbols(o, sh->sh_link, &table, &strings))
		return err_set(e, ERR_PARSE, "ELF relocations lie outside the file");
	target = section(o, sh->sh_info);
	if (!counts(o, &target))
		return 0;
	add_name(o, &o->names, target.sh_name);
	for (size_t i = 0; r == 0 && i < n; i++) {
		Elf64_Rela rela;
		Elf64_Sym sym;

		memcpy(&rela, o->p + sh->sh_offset + i * sizeof(rela), sizeof(rela));
		if (ELF64_R_SYM(rela.r_info) >= table.sh_size / sizeof(sym))
			return err_set(e, ERR_PARSE, "ELF relocation of no symbol");
		memcpy(&sym, o->p + table.sh_offset + ELF64_R_SYM(rela.r_info) * sizeof(sym),
		       sizeof(sym));
		rela.r_info = ELF64_R_TYPE(rela.r_info);
		strbuf_add(o->out, &rela, sizeof(rela));
		add_symbol(o, &strings, &sym);
		r = check_size(o, e);
	}
	return r;
}

/* What other files can link to. */
static int add_exports(const struct object *o, size_t index, struct err *e)
{
	Elf64_Shdr table;
	Elf64_Shdr strings;
	int r = 0;

	if (!symbols(o, index, &table, &strings))
		return err_set(e, ERR_PARSE, "ELF symbols lie outside the file");
	for (size_t i = 0; r == 0 && i < table.sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym;

		memcpy(&sym, o->p + table.sh_offset + i * sizeof(sym), sizeof(sym));
		if (ELF64_ST_BIND(sym.st_info) == STB_LOCAL || sym.st_shndx == SHN_UNDEF)
			continue;
		strbuf_addch(o->out, (char)sym.st_info);
		add_symbol(o, &strings, &sym);
		r = check_size(o, e);
	}
	return r;
}

static int open_object(struct object *o, struct err *e)
{
	if (o->len < sizeof(o->eh) || memcmp(o->p, ELFMAG, SELFMAG) != 0)
		return err_set(e, ERR_PARSE, "not an ELF file");
	memcpy(&o->eh, o->p, sizeof(o->eh));
	if (o->eh.e_ident[EI_CLASS] != ELFCLASS64 || o->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    o->eh.e_type != ET_REL)
		return err_set(e, ERR_PARSE, "not a 64-bit little-endian object file");
	/* More than 65,279 sections are counted elsewhere; no file of a kernel has them. */
	if (o->eh.e_shentsize != sizeof(Elf64_Shdr) || o->eh.e_shstrndx >= o->eh.e_shnum ||
	    !inside(o, o->eh.e_shoff, (uint64_t)o->eh.e_shnum * sizeof(Elf64_Shdr)))
		return err_set(e, ERR_PARSE, "ELF section headers lie outside the file");
	o->names = section(o, o->eh.e_shstrndx);
	return 0;
}

int elf_code(const void *data, size_t len, struct strbuf *ret, struct err *e)
{
	struct object o = { .p = data, .len = len, .out = ret, .limit = ret->len + 8 * len };
	int r = open_object(&o, e);

	for (size_t i = 0; r == 0 && i < o.eh.e_shnum; i++) {
		Elf64_Shdr sh = section(&o, i);

		if (sh.sh_type == SHT_RELA)
			r = add_relocations(&o, &sh, e);
		else if (sh.sh_type == SHT_SYMTAB)
			r = add_exports(&o, i, e);
		else if (counts(&o, &sh))
			r = add_content(&o, &sh, e);
		if (r == 0)
			r = check_size(&o, e);
	}
	return r;
}
