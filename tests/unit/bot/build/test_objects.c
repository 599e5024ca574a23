/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/build/build_priv.h"
#include "bot/build/elf.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

static char *dir;

static int set_up(void **state)
{
	char path[] = "/tmp/kperfbot-objects.XXXXXX";

	(void)state;
	if (!mkdtemp(path))
		return -1;
	dir = xstrdup(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)file_remove_tree(dir, NULL);
	free(dir);
	return 0;
}

__attribute__((format(printf, 1, 2))) static void run(const char *fmt, ...)
{
	_cleanup_(strbuf_done) struct strbuf cmd = STRBUF_INIT;
	va_list ap;

	strbuf_addf(&cmd, "cd %s && ", dir);
	va_start(ap, fmt);
	strbuf_vaddf(&cmd, fmt, ap);
	va_end(ap);
	if (system(strbuf_str(&cmd)) != 0) /* NOLINT(concurrency-mt-unsafe,cert-env33-c) */
		fail_msg("failed: %s", strbuf_str(&cmd));
}

static void put(const char *name, const char *text)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", dir, name);
	struct err e = { 0 };

	assert_ok(file_write(path, text, strlen(text), 0644, &e), &e);
}

/* The object file that gcc makes of @text. */
static struct strbuf compile(const char *text, const char *flags)
{
	_cleanup_(freep) char *path = xasprintf("%s/t.o", dir);
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	put("t.c", text);
	run("gcc -O1 -fno-pie -c %s -o t.o t.c", flags);
	assert_ok(file_read(path, 1 << 20, &b, &e), &e);
	return b;
}

static struct strbuf code_of(const char *text, const char *flags)
{
	struct strbuf code = STRBUF_INIT;
	struct strbuf object = compile(text, flags);
	struct err e = { 0 };

	assert_ok(elf_code(object.s, object.len, &code, &e), &e);
	assert_true(code.len > 50);
	strbuf_done(&object);
	return code;
}

static bool same(const char *a, const char *a_flags, const char *b, const char *b_flags)
{
	_cleanup_(strbuf_done) struct strbuf x = code_of(a, a_flags);
	_cleanup_(strbuf_done) struct strbuf y = code_of(b, b_flags);

	return x.len == y.len && memcmp(x.s, y.s, x.len) == 0;
}

#define BASE                                                                             \
	"extern int far(int);\nstatic int near(int x)\n{\n\treturn far(x) + 1;\n}\n"     \
	"static int (*table[])(int) = { near };\nint f(int x)\n{\n\treturn table[x & 0]" \
	"(x) + near(3);\n}\nconst char *s(void)\n{\n\treturn \"text\";\n}\n"
#define BUG                                                                        \
	"void b(void)\n{\n\tasm(\"1: ud2\\n.pushsection __bug_table,\\\"aw\\\"\\n" \
	".long 1b - .\\n.word %c0\\n.popsection\" :: \"i\"(__LINE__));\n}\n"

static void sees_no_comments_line_numbers_or_debug_data(void **state)
{
	(void)state;
	assert_true(same(BASE BUG, "", "/* why\n * so\n */\n\n" BASE "\n\n" BUG, ""));
	assert_true(same(BASE, "-g", "\n\n" BASE, "-g"));
	assert_true(same(BASE, "", BASE, "-g -Wl,--build-id"));
}

static void sees_each_change_of_code_or_data(void **state)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "+ 1;", "+ 2;" },
		{ "near(3)", "near(4)" },
		{ "far(x)", "fat(x)" },
		{ "text", "test" },
		{ "int f(", "int g(" },
		{ "{ near }", "{ far }" },
		{ "static int (*t", "int (*t" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
		const char *at = strstr(BASE, changes[i].from);

		assert_non_null(at);
		strbuf_addstr(&b, "int fat(int);\n");
		strbuf_add(&b, BASE, (size_t)(at - BASE));
		strbuf_addstr(&b, changes[i].to);
		strbuf_addstr(&b, at + strlen(changes[i].from));
		if (same("int fat(int);\n" BASE, "", strbuf_str(&b), ""))
			fail_msg("'%s' for '%s' is not seen", changes[i].to, changes[i].from);
	}
	assert_false(same(BASE, "", BASE, "-falign-functions=64"));
}

static void survives_every_prefix_and_every_byte(void **state)
{
	_cleanup_(strbuf_done) struct strbuf o = compile(BASE BUG, "-g0");
	_cleanup_(strbuf_done) struct strbuf code = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf ends = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < o.len; i++) {
		/* A block of its own, so that a read past the end is seen. */
		char *cut = xcalloc(i + 1, 1);

		memcpy(cut, o.s, i);
		assert_true(elf_code(cut, i, &code, NULL) < 0);
		assert_true(code.len <= 8 * o.len);
		strbuf_reset(&code);
		free(cut);
	}
	for (size_t i = 0; i < o.len; i++) {
		char was = o.s[i];

		o.s[i] = (char)0xff;
		(void)elf_code(o.s, o.len, &code, NULL);
		assert_true(code.len <= 10 * o.len);
		o.s[i] = was;
		strbuf_reset(&code);
	}
}

static void refuses_what_says_the_same_again_and_again(void **state)
{
	static struct {
		Elf64_Ehdr eh;
		Elf64_Shdr sh[4000];
	} f;
	_cleanup_(strbuf_done) struct strbuf code = STRBUF_INIT;
	struct err e = { 0 };

	(void)state;
	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f.eh.e_type = ET_REL;
	f.eh.e_shentsize = sizeof(Elf64_Shdr);
	f.eh.e_shnum = ARRAY_SIZE(f.sh);
	f.eh.e_shoff = sizeof(f.eh);
	for (size_t i = 0; i < ARRAY_SIZE(f.sh); i++)
		f.sh[i] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					.sh_flags = SHF_ALLOC,
					.sh_size = sizeof(f) };
	assert_err(elf_code(&f, sizeof(f), &code, &e), ERR_TOO_BIG, &e);
	assert_true(code.len < 16 * sizeof(f));
}

static int list(struct strbuf *objects, struct strbuf *deps, struct err *e)
{
	const struct workdir w = { .o = dir };

	*e = (struct err){ 0 };
	return objects_list(&w, objects, deps, e);
}

static void lists_objects_and_what_they_were_made_from(void **state)
{
	_cleanup_(strbuf_done) struct strbuf objects = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf deps = STRBUF_INIT;
	struct err e;

	(void)state;
	run("mkdir -p mm scripts/mod tools/objtool arch/x86/boot arch/x86/kernel; "
	    "gcc -c -xc /dev/null -o mm/b.o; cp mm/b.o mm/a.o; echo odd >mm/odd.o; : >mm/none.o; "
	    "cp mm/b.o scripts/mod/x.o; cp mm/b.o tools/objtool/check.o; cp mm/b.o vmlinux.o; "
	    "cp mm/b.o mm/a.mod.o; cp mm/b.o mm/.tmp.o; cp mm/b.o arch/x86/boot/c.o; "
	    "cp mm/b.o 'mm/with blank.o'; ln -s b.o mm/link.o; ln -s / top; mkfifo mm/pipe.o; "
	    "echo x >arch/x86/kernel/vmlinux.lds");
	put("mm/.a.o.cmd", "savedcmd_mm/a.o := gcc -c /src/mm/no.c\n\n"
			   "source_mm/a.o := /src/mm/a.c\n\ndeps_mm/a.o := \\\n"
			   "    $(wildcard include/config/X) \\\n  /src/include/linux/x.h \\\n"
			   "  include/generated/y.h \\\n  /usr/include/z.h \\\n"
			   "  /src/arch/x86/../../mm/./q.h \\\n  /src/../etc/passwd \\\n"
			   "  /src/\377odd.h \\\n  /src/ \\\n  /src/include/linux/x.h\n\n"
			   "mm/a.o: $(deps_mm/a.o)\n\n$(deps_mm/a.o):\n");
	put("tools/objtool/.check.o.cmd", "source_/o/tools/objtool/check.o := check.c\n\n"
					  "deps_/o/tools/objtool/check.o := \\\n"
					  "  ../lib/str.h \\\n  /src/tools/include/a.h \\\n\n");
	put(".empty.cmd", "");
	put(".cut.cmd", "deps_x := \\\n  /src/cut.c \\");
	assert_ok(list(&objects, &deps, &e), &e);
	assert_string_equal(strbuf_str(&deps), "cut.c\ninclude/linux/x.h\nmm/a.c\nmm/q.h\n"
					       "tools/include/a.h\ntools/lib/str.h\n"
					       "tools/objtool/check.c\n");
	assert_int_equal(objects.len, 4 * 34 + strlen("mm/a.omm/b.omm/odd.omm/none.o") + 34 +
					      strlen("arch/x86/kernel/vmlinux.lds"));
	assert_memory_equal(objects.s, "arch/x86/kernel/vmlinux.lds ", 28);
	assert_non_null(strstr(objects.s, "\nmm/odd.o "));
	assert_non_null(strstr(objects.s, "\nmm/none.o e3b0c44298fc1c149afbf4c8996fb924\n"));
}

static void says_when_there_is_nothing(void **state)
{
	_cleanup_(strbuf_done) struct strbuf objects = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf deps = STRBUF_INIT;
	struct err e;

	(void)state;
	assert_err(list(&objects, &deps, &e), ERR_NOENT, &e);
	run("d=.; for i in $(seq 60); do d=$d/d; done; mkdir -p $d; echo >$d/deep.o");
	assert_err(list(&objects, &deps, &e), ERR_NOENT, &e);
	assert_int_equal(objects.len + deps.len, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sees_no_comments_line_numbers_or_debug_data),
		T(sees_each_change_of_code_or_data),
		T(survives_every_prefix_and_every_byte),
		T(refuses_what_says_the_same_again_and_again),
		T(lists_objects_and_what_they_were_made_from),
		T(says_when_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
