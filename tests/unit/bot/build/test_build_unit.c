/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/test.h"

#include "bot/base/file.h"
#include "bot/build/build.h"
#include "bot/build/build_priv.h"
#include "bot/build/elf.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	Elf64_Nhdr other;
	char other_name[8];
	char other_desc[4];
	Elf64_Nhdr id;
	char id_name[4];
	unsigned char id_desc[20];
};

/* An ELF file with one note segment: a Xen note, then the build id 00 01 02 … */
static struct image image(void)
{
	struct image im = {
		.eh = { .e_phoff = offsetof(struct image, ph),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1 },
		.ph = { .p_type = PT_NOTE,
			.p_offset = offsetof(struct image, other),
			.p_filesz = sizeof(struct image) - offsetof(struct image, other) },
		.other = { .n_namesz = 5, .n_descsz = 3, .n_type = 6 },
		.other_name = "Xen",
		.id = { .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID },
		.id_name = "GNU",
	};

	memcpy(im.eh.e_ident, ELFMAG, SELFMAG);
	im.eh.e_ident[EI_CLASS] = ELFCLASS64;
	im.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	for (unsigned char i = 0; i < 20; i++)
		im.id_desc[i] = i;
	return im;
}

static void reads_the_build_id(void **state)
{
	struct image im = image();
	struct err e = { 0 };
	char id[129] = "";

	(void)state;
	assert_ok(elf_build_id(&im, sizeof(im), id, &e), &e);
	assert_string_equal(id, "000102030405060708090a0b0c0d0e0f10111213");
}

static void refuses_every_prefix_of_an_image(void **state)
{
	struct image im = image();

	(void)state;
	for (size_t len = 0; len < sizeof(im); len++) {
		/* A block of exactly this size, so that the sanitizer sees a read beyond. */
		unsigned char *copy = xcalloc(1, len ? len : 1);
		char id[129];

		memcpy(copy, &im, len);
		assert_true(elf_build_id(copy, len, id, NULL) < 0);
		free(copy);
	}
}

static void survives_hostile_lengths(void **state)
{
	struct image im = image();
	struct err e = { 0 };
	char id[129];

	(void)state;
	im.eh.e_phoff = UINT64_MAX - 8;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_PARSE, &e);
	im = image();
	im.eh.e_phnum = 65535;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_PARSE, &e);
	im = image();
	im.ph.p_filesz = UINT64_MAX;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_NOENT, &e);
	im = image();
	im.other.n_namesz = UINT32_MAX;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_NOENT, &e);
	im = image();
	im.id.n_descsz = 65;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_NOENT, &e);
	im = image();
	im.eh.e_ident[EI_CLASS] = ELFCLASS32;
	assert_err(elf_build_id(&im, sizeof(im), id, &e), ERR_PARSE, &e);
}

static void warns_of_symbols_without_effect(void **state)
{
	struct build_result r = { 0 };

	(void)state;
	kconfig_check_effect("CONFIG_A=y\nCONFIG_AB=m\n# CONFIG_C is not set\nCONFIG_S=\"x y\"\n",
			     "CONFIG_A=y\n# a comment\n\nCONFIG_B=y\n# CONFIG_C is not set\n"
			     "# CONFIG_D is not set\n# CONFIG_AB is not set\nCONFIG_S=\"x y\"\n"
			     "CONFIG_D=n\nCONFIG_A=m",
			     &r);
	assert_int_equal(r.n_warnings, 3);
	assert_string_equal(r.warnings[0], "'CONFIG_B=y' did not take effect");
	assert_string_equal(r.warnings[1], "'# CONFIG_AB is not set' did not take effect");
	assert_string_equal(r.warnings[2], "'CONFIG_A=m' did not take effect");
	build_result_done(&r);
}

static void checks_the_base(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(kconfig_check_base("tinyconfig", &e), &e);
	assert_ok(kconfig_check_base("x86_64_defconfig", &e), &e);
	assert_ok(kconfig_check_base("./nosuch", &e), &e);
	assert_err(kconfig_check_base("bzImage", &e), ERR_INVAL, &e);
	assert_err(kconfig_check_base("SHELL=x config", &e), ERR_INVAL, &e);
	assert_err(kconfig_check_base("-fconfig", &e), ERR_INVAL, &e);
	assert_err(kconfig_check_base("", &e), ERR_INVAL, &e);
}

static void hashes_content_and_not_paths(void **state)
{
	char dir[] = "/tmp/kperfbot-test.XXXXXX";
	char a[65];
	char b[65];
	char c[65];
	struct err e = { 0 };
	_cleanup_(freep) char *one = NULL;
	_cleanup_(freep) char *two = NULL;

	(void)state;
	assert_non_null(mkdtemp(dir));
	one = xasprintf("%s/one", dir);
	two = xasprintf("%s/two", dir);
	assert_ok(file_write(one, "CONFIG_A=y\n", 11, 0600, &e), &e);
	assert_ok(file_write(two, "CONFIG_A=y\n", 11, 0600, &e), &e);
	assert_ok(build_kconfig_hash("tinyconfig", (const char *const[]){ one }, 1, a, &e), &e);
	assert_ok(build_kconfig_hash("tinyconfig", (const char *const[]){ two }, 1, b, &e), &e);
	assert_string_equal(a, b);
	assert_ok(build_kconfig_hash("tinyconfig", NULL, 0, b, &e), &e);
	assert_string_not_equal(a, b);
	assert_ok(build_kconfig_hash(one, NULL, 0, b, &e), &e);
	assert_ok(build_kconfig_hash("tinyconfig", (const char *const[]){ one, two }, 2, c, &e),
		  &e);
	assert_string_not_equal(a, b);
	assert_string_not_equal(a, c);
	assert_int_equal(unlink(two), 0);
	assert_err(build_kconfig_hash("tinyconfig", (const char *const[]){ one, two }, 2, c, &e),
		   ERR_NOENT, &e);
	assert_non_null(strstr(e.msg, two));
	assert_ok(file_remove_tree(dir, &e), &e);
}

static void finds_the_line_that_says_why(void **state)
{
	_cleanup_(freep) char *a =
		output_reason("  CC x.o\n/src/mm/x.c:12:3: error: no \x1b[1m\xe2\n"
			      "make: *** [x] Error 1\n");
	_cleanup_(freep) char *b =
		output_reason("x\nmake: *** No rule to make target 'y'.  Stop.\n");
	_cleanup_(freep) char *c = output_reason("first\nlast\n\n");
	_cleanup_(freep) char *d = output_reason("\n");
	_cleanup_(freep) char *f = output_reason("ld: cannot open output file\n"
						 "collect2: error: ld returned 1 exit status\n");

	(void)state;
	assert_string_equal(a, "mm/x.c:12:3: error: no ?[1m?");
	assert_string_equal(b, "make: *** No rule to make target 'y'.  Stop.");
	assert_string_equal(c, "last");
	assert_string_equal(d, "no output");
	assert_string_equal(f, "ld: cannot open output file");
	assert_false(output_blames_source("collect2: error: ld returned 1 exit status"));
	assert_true(output_blames_source("mm/x.c:12:3: error: no"));
	assert_true(output_blames_source("mm/x.c:12: fatal error: no"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_build_id),
		cmocka_unit_test(refuses_every_prefix_of_an_image),
		cmocka_unit_test(survives_hostile_lengths),
		cmocka_unit_test(warns_of_symbols_without_effect),
		cmocka_unit_test(checks_the_base),
		cmocka_unit_test(hashes_content_and_not_paths),
		cmocka_unit_test(finds_the_line_that_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
