/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/cleanup.h"
#include "bot/mail/recipients.h"
#include "bot/mail/trailers.h"
#include "tests/test.h"

#include <string.h>

static const char message[] = "mm/demo: x\n\ntext\n\n"
			      "Cc: stable@vger.kernel.org # 5.10+\n"
			      "Cc: Carol <carol@example.org>\n"
			      "Reviewed-by: Rev <rev@example.org>\n"
			      "Signed-off-by: Jane <JANE@example.org>\n"
			      "Signed-off-by: Sub <sub@example.org>\n"
			      "Signed-off-by: Max <max@example.org>\n";

static struct trailers trailers;

static int setup(void **state)
{
	(void)state;
	return trailers_parse(message, strlen(message), &trailers, NULL);
}

static int teardown(void **state)
{
	(void)state;
	trailers_done(&trailers);
	return 0;
}

static struct recipients_rules rules(enum lives_in l)
{
	static const struct recipient_addr lists[] = { { NULL, "demo-mm@lists.example.org",
							 NULL } };

	return (struct recipients_rules){
		.lives_in = l,
		.owner = { "Own", "own@example.org", NULL },
		.author = { "Jane", "jane@example.org", NULL },
		.committer = { "Max", "max@example.org", NULL },
		.trailers = &trailers,
		.subsystem = lists,
		.n_subsystem = 1,
		.kernel_list = "kernel@lists.example.org",
		.stable_list = "stable@lists.example.org",
		.regressions_list = "regressions@lists.example.org",
	};
}

static void check(const struct recipients_rules *r, const char *want)
{
	struct recipients got;
	struct strbuf b = STRBUF_INIT;

	recipients_choose(r, &got);
	vec_foreach (c, &got.chosen) {
		assert_true(c->reason && *c->reason);
		assert_int_equal(c->to, c == got.chosen.items);
		strbuf_addf(&b, "%s%.*s", b.len ? " " : "", (int)strcspn(c->addr, "@"), c->addr);
	}
	vec_foreach (c, &got.left_out)
		assert_true(c->reason && *c->reason);
	assert_string_equal(strbuf_str(&b), want);
	strbuf_done(&b);
	recipients_done(&got);
}

static void tells_people_by_how_far_the_commit_went(void **state)
{
	struct recipients_rules r = rules(LIVES_IN_PRIVATE);

	(void)state;
	check(&r, "own");
	r = rules(LIVES_IN_LIST);
	check(&r, "jane sub max carol");
	r = rules(LIVES_IN_MAINTAINER);
	check(&r, "jane max demo-mm sub");
	r = rules(LIVES_IN_NEXT);
	check(&r, "jane max demo-mm sub");
	r = rules(LIVES_IN_MAINLINE);
	check(&r, "jane max demo-mm kernel sub");
	r = rules(LIVES_IN_STABLE);
	check(&r, "jane max demo-mm kernel stable sub");
	r.class_broad = true;
	check(&r, "jane max demo-mm kernel stable regressions sub");
}

static void takes_the_people_of_the_patch_mail(void **state)
{
	static const struct recipient_addr patch[] = { { "Bob", "bob@example.org",
							 "To of the patch" },
						       { NULL, "bad address@example.org", NULL } };
	struct recipients_rules r = rules(LIVES_IN_LIST);

	(void)state;
	r.patch = patch;
	r.n_patch = 2;
	check(&r, "jane bob");
}

static void leaves_out_stable_stopped_and_own_addresses(void **state)
{
	static const char *const stop[] = { "MAX@example.org", "@lists.example.org" };
	static const struct recipient_addr patch[] = {
		{ NULL, "stable@kernel.org", NULL },
		{ NULL, "stable@vger.kernel.org", NULL },
		{ NULL, "noreply@example.org", NULL },
		{ NULL, "kperfbot+r1@perf.example.org", NULL },
		{ NULL, "max@example.org", NULL },
		{ NULL, "x@lists.example.org", NULL },
		{ NULL, "a@example.org\r\nX: y", NULL },
		{ NULL, "ok@example.org", NULL },
		{ NULL, "OK@example.org", NULL },
	};
	struct recipients_rules r = rules(LIVES_IN_LIST);
	struct recipients got;

	(void)state;
	r.author = (struct recipient_addr){ 0 };
	r.patch = patch;
	r.n_patch = ARRAY_SIZE(patch);
	r.stop = stop;
	r.n_stop = 2;
	r.own_host = "perf.example.org";
	recipients_choose(&r, &got);
	assert_int_equal(got.chosen.len, 1);
	assert_string_equal(got.chosen.items[0].addr, "ok@example.org");
	assert_int_equal(got.left_out.len, 7);
	assert_string_equal(got.left_out.items[0].reason, "goes nowhere");
	assert_string_equal(got.left_out.items[1].reason, "stable list");
	assert_string_equal(got.left_out.items[4].reason, "stop list");
	assert_string_equal(got.left_out.items[6].reason, "not a valid address");
	recipients_done(&got);
}

static void never_writes_to_stable_at_kernel_org(void **state)
{
	struct recipients_rules r = rules(LIVES_IN_STABLE);

	(void)state;
	r.stable_list = "stable@kernel.org";
	check(&r, "jane max demo-mm kernel sub");
}

static void stops_at_twenty(void **state)
{
	struct recipient_addr patch[30] = { 0 };
	char addr[30][32];
	struct recipients_rules r = rules(LIVES_IN_LIST);
	struct recipients got;

	(void)state;
	for (int i = 0; i < 30; i++) {
		(void)snprintf(addr[i], sizeof(addr[i]), "p%d@example.org", i);
		patch[i].addr = addr[i];
	}
	r.patch = patch;
	r.n_patch = 30;
	recipients_choose(&r, &got);
	assert_int_equal(got.chosen.len, RECIPIENTS_MAX);
	assert_int_equal(got.left_out.len, 11);
	assert_string_equal(got.left_out.items[0].reason, "too many recipients");
	recipients_done(&got);
}

static void names_unknown_stations(void **state)
{
	enum lives_in l = LIVES_IN_NEXT;
	struct err e = { 0 };

	(void)state;
	assert_err(lives_in_parse("moon", &l, &e), ERR_INVAL, &e);
	assert_int_equal(l, LIVES_IN_NEXT);
	assert_ok(lives_in_parse("stable", &l, &e), &e);
	assert_string_equal(lives_in_name(l), "stable");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_people_by_how_far_the_commit_went),
		cmocka_unit_test(takes_the_people_of_the_patch_mail),
		cmocka_unit_test(leaves_out_stable_stopped_and_own_addresses),
		cmocka_unit_test(never_writes_to_stable_at_kernel_org),
		cmocka_unit_test(stops_at_twenty),
		cmocka_unit_test(names_unknown_stations),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
