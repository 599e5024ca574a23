/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/proto/build_id.h"
#include "runners/proto/frame.h"
#include "tests/test.h"

#include <string.h>

static void add_three(struct strbuf *b)
{
	struct err e = { 0 };

	assert_ok(proto_frame_add(b, PROTO_HELLO, "{}", 2, &e), &e);
	assert_ok(proto_frame_add(b, PROTO_OUTPUT, "\1abc\0def", 8, &e), &e);
	assert_ok(proto_frame_add(b, PROTO_BYE, NULL, 0, &e), &e);
}

/* Decodes all that @d holds; counts frames by type. */
static int drain(struct proto_decoder *d, int *count)
{
	struct proto_frame f;
	int r;

	while ((r = proto_decoder_next(d, &f, NULL)) == 1) {
		assert_true(f.len <= proto_type_max((int)f.type));
		count[f.type]++;
	}
	return r;
}

static void knows_the_checksum_of_the_standard(void **state)
{
	(void)state;
	assert_int_equal(proto_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(proto_crc32(proto_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

static void reads_frames_split_at_every_byte(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	(void)state;
	add_three(&b);
	for (size_t cut = 0; cut <= b.len; cut++) {
		_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
		int count[PROTO_TYPE_COUNT] = { 0 };

		proto_decoder_add(&d, b.s, cut);
		assert_int_equal(drain(&d, count), 0);
		assert_int_equal(count[PROTO_BYE], cut == b.len);
		proto_decoder_add(&d, b.s + cut, b.len - cut);
		assert_int_equal(drain(&d, count), 0);
		assert_int_equal(count[PROTO_HELLO], 1);
		assert_int_equal(count[PROTO_OUTPUT], 1);
		assert_int_equal(count[PROTO_BYE], 1);
		assert_int_equal(d.skipped, 0);
		assert_int_equal(proto_decoder_pending(&d), 0);
	}
}

static void keeps_the_bytes_of_the_payload(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	struct proto_frame f;

	(void)state;
	add_three(&b);
	for (size_t i = 0; i < b.len; i++)
		proto_decoder_add(&d, b.s + i, 1);
	assert_int_equal(proto_decoder_next(&d, &f, NULL), 1);
	assert_int_equal(f.len, 2);
	assert_memory_equal(f.payload, "{}", 2);
	assert_int_equal(proto_decoder_next(&d, &f, NULL), 1);
	assert_int_equal(f.len, 8);
	assert_memory_equal(f.payload, "\1abc\0def", 8);
}

static void finds_the_next_frame_after_garbage(void **state)
{
	static const char *const garbage[] = {
		"[    0.1] Kernel panic - not syncing",
		"k",
		"kp",
		"kpF\xb7",
		"kpF\xb7\x01",
		"kpFkpF\xb7\xff\xff\xff",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
		_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
		int count[PROTO_TYPE_COUNT] = { 0 };

		strbuf_addstr(&b, garbage[i]);
		add_three(&b);
		strbuf_addstr(&b, garbage[i]);
		add_three(&b);
		proto_decoder_add(&d, b.s, b.len);
		assert_int_equal(drain(&d, count), 0);
		assert_int_equal(count[PROTO_HELLO], 2);
		assert_int_equal(count[PROTO_BYE], 2);
		assert_int_equal(d.skipped, 2 * strlen(garbage[i]));
	}
}

static void damage_in_one_frame_leaves_the_others(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	size_t first;

	(void)state;
	add_three(&b);
	first = b.len;
	add_three(&b);
	for (size_t i = 0; i < first; i++) {
		for (int bit = 0; bit < 8; bit++) {
			_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
			int count[PROTO_TYPE_COUNT] = { 0 };
			char filler[65536 + 1] = { 0 };

			b.s[i] = (char)(b.s[i] ^ (1 << bit));
			proto_decoder_add(&d, b.s, b.len);
			/* A length that grew makes the decoder wait: give it what it waits for. */
			assert_int_equal(drain(&d, count), 0);
			if (proto_decoder_pending(&d) > 0)
				proto_decoder_add(&d, filler, sizeof(filler));
			assert_int_equal(drain(&d, count), 0);
			b.s[i] = (char)(b.s[i] ^ (1 << bit));
			assert_int_equal(
				count[PROTO_HELLO] + count[PROTO_OUTPUT] + count[PROTO_BYE], 5);
			assert_true(d.skipped > 0);
		}
	}
}

static void refuses_a_length_above_the_limit_of_its_type(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	int count[PROTO_TYPE_COUNT] = { 0 };

	(void)state;
	strbuf_add(&b, "kpF\xb7\1\0\0\0\xff\xff\xff\xff\0\0\0\0", 16);
	add_three(&b);
	proto_decoder_add(&d, b.s, b.len);
	assert_int_equal(drain(&d, count), 0);
	assert_int_equal(count[PROTO_BYE], 1);
	assert_int_equal(d.skipped, 16);
}

static void gives_up_after_too_much_garbage(void **state)
{
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	_cleanup_(strbuf_done) struct strbuf good = STRBUF_INIT;
	int count[PROTO_TYPE_COUNT] = { 0 };
	struct proto_frame f;
	struct err e = { 0 };
	char zeros[65536] = { 0 };

	(void)state;
	for (size_t i = 0; i < PROTO_SKIP_MAX / sizeof(zeros); i++) {
		proto_decoder_add(&d, zeros, sizeof(zeros));
		assert_int_equal(drain(&d, count), 0);
	}
	proto_decoder_add(&d, zeros, 1);
	assert_err(proto_decoder_next(&d, &f, &e), ERR_FORMAT, &e);
	add_three(&good);
	proto_decoder_add(&d, good.s, good.len);
	assert_err(proto_decoder_next(&d, &f, &e), ERR_FORMAT, &e);
}

static void gives_up_after_too_many_wrong_checksums(void **state)
{
	_cleanup_(proto_decoder_done) struct proto_decoder d = { 0 };
	struct proto_frame f;
	struct err e = { 0 };
	int r = 0;

	(void)state;
	for (int i = 0; i <= PROTO_BAD_MAX && r == 0; i++) {
		proto_decoder_add(&d, "kpF\xb7\6\0\0\0\0\0\0\0zzzz", 16);
		r = proto_decoder_next(&d, &f, &e);
	}
	assert_int_equal(r, ERR_FORMAT);
}

static void refuses_to_write_what_nobody_would_read(void **state)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	_cleanup_(freep) char *big = xcalloc(1, 70000);
	struct err e = { 0 };

	(void)state;
	assert_err(proto_frame_add(&b, PROTO_OUTPUT, big, 70000, &e), ERR_TOO_BIG, &e);
	assert_err(proto_frame_add(&b, PROTO_BYE, "x", 1, &e), ERR_TOO_BIG, &e);
	assert_err(proto_frame_add(&b, (enum proto_type)99, "x", 1, &e), ERR_INVAL, &e);
	assert_int_equal(b.len, 0);
	assert_string_equal(proto_type_name(PROTO_RUN_END), "run-end");
	assert_string_equal(proto_type_name(0), "unknown");
}

static const char notes[] = "\6\0\0\0\4\0\0\0\1\1\0\0Linux\0\0\0\0\0\0\0"
			    "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";

static void finds_the_build_id_among_kernel_notes(void **state)
{
	_cleanup_(freep) char *id = NULL;
	struct err e = { 0 };

	(void)state;
	assert_ok(proto_build_id_find(notes, sizeof(notes) - 1, &id, &e), &e);
	assert_string_equal(id, "deadbeef");
}

static void refuses_kernel_notes_that_are_cut_or_lie(void **state)
{
	char lie[sizeof(notes)];
	char *id = NULL;
	struct err e = { 0 };

	(void)state;
	for (size_t n = 0; n < sizeof(notes) - 1; n++)
		assert_true(proto_build_id_find(notes, n, &id, &e) < 0);
	for (size_t i = 0; i < 8; i++) {
		memcpy(lie, notes, sizeof(notes));
		lie[i] = (char)0xff;
		assert_true(proto_build_id_find(lie, sizeof(notes) - 1, &id, &e) < 0);
	}
	assert_null(id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_checksum_of_the_standard),
		cmocka_unit_test(reads_frames_split_at_every_byte),
		cmocka_unit_test(keeps_the_bytes_of_the_payload),
		cmocka_unit_test(finds_the_next_frame_after_garbage),
		cmocka_unit_test(damage_in_one_frame_leaves_the_others),
		cmocka_unit_test(refuses_a_length_above_the_limit_of_its_type),
		cmocka_unit_test(gives_up_after_too_much_garbage),
		cmocka_unit_test(gives_up_after_too_many_wrong_checksums),
		cmocka_unit_test(refuses_to_write_what_nobody_would_read),
		cmocka_unit_test(finds_the_build_id_among_kernel_notes),
		cmocka_unit_test(refuses_kernel_notes_that_are_cut_or_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
