/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which commits of a branch say that they fix a culprit or take it back. */
#include "bot/base/cleanup.h"
#include "bot/watch/fixes.h"
#include "tests/integration/fixes/story.h"

/* The claims about commit number @culprit as "KIND NUMBER TITLE; …", KIND with '~' if by title. */
static char *claims(const struct story *s, int culprit)
{
	const char *hash = s->id[culprit];
	struct fixes_claims c = { 0 };
	struct strbuf b = STRBUF_INIT;
	struct err e = { 0 };

	assert_ok(fixes_scan(s->repo.git, s->id[s->n - 1], &hash, 1, 0, &c, &e), &e);
	assert_false(c.cut);
	vec_foreach (it, &c.v) {
		int n = 0;

		while (n < s->n && strcmp(s->id[n], it->hash) != 0)
			n++;
		assert_int_equal(it->time, 1700000000 + n * 100);
		strbuf_addf(&b, "%s%s%s %d", b.len ? "; " : "", it->reverts ? "reverts" : "fixes",
			    it->by_title ? "~" : "", n);
	}
	fixes_claims_done(&c);
	return strbuf_take(&b);
}

static void check(const struct story *s, int culprit, const char *want)
{
	_cleanup_(freep) char *got = claims(s, culprit);

	assert_string_equal(got, want);
}

static void finds_a_fix_by_id_and_by_the_only_title(void **state)
{
	struct story *s = *state;

	story_addf(s, "start");
	story_addf(s, "mm: slow");
	story_addf(s, "mm: other");
	check(s, 1, "");
	story_addf(s, "mm: fast\n\nFixes: %.12s (\"mm: slow\")\n", s->id[1]);
	story_addf(s, "mm: faster\n\nfixes: 0123456789ab (\"mm:\n slow\")\nCc: x@example.org\n");
	story_addf(s, "mm: prose\n\nThis fixes %.12s.\n", s->id[1]);
	story_addf(s, "mm: near\n\nFixes: 0123456789ab (\"mm: slower\")\n");
	check(s, 1, "fixes 3; fixes~ 4");
	/* an id that is known names its commit, whatever the title */
	story_addf(s, "mm: x\n\nFixes: %.12s (\"mm: slow\")\n", s->id[2]);
	check(s, 1, "fixes 3; fixes~ 4");
	check(s, 2, "fixes 7");
	/* once a second commit has the title, the title says nothing any more */
	story_addf(s, "mm: slow");
	check(s, 1, "fixes 3");
}

static void a_revert_counts_until_it_is_taken_back_itself(void **state)
{
	struct story *s = *state;
	char revert[41];

	story_addf(s, "start");
	story_addf(s, "mm: slow");
	memcpy(revert,
	       story_addf(s, "Revert \"mm: slow\"\n\nThis reverts commit %s.\n\nToo slow.\n",
			  s->id[1]),
	       sizeof(revert));
	check(s, 1, "reverts 2");
	story_addf(s, "Reapply \"mm: slow\"\n\nThis reverts commit %s.\n", revert);
	check(s, 1, "");
	story_addf(s, "Revert \"Reapply \"mm: slow\"\"\n\nThis reverts commit %s.\n", s->id[3]);
	check(s, 1, "reverts 2");
	story_addf(s, "mm: unrelated");
	/* applied again by hand, under its title */
	story_addf(s, "mm: slow\n\nThis time for good.\n");
	check(s, 1, "");
}

static void a_fix_that_was_reverted_does_not_count(void **state)
{
	struct story *s = *state;

	story_addf(s, "mm: slow");
	story_addf(s, "mm: fast\n\nFixes: %.12s (\"mm: slow\")\n", s->id[0]);
	story_addf(s, "mm: on second thought\n\nText speaks of who reverts commit %.12s.\n",
		   s->id[1]);
	check(s, 0, "fixes 1");
	story_addf(s, "mm: no\n\nThis reverts commit %.12s (\"mm: fast\").\n", s->id[1]);
	check(s, 0, "");
}

static void a_revert_may_give_the_title_alone(void **state)
{
	struct story *s = *state;

	story_addf(s, "mm: slow");
	story_addf(s, "Revert \"mm: slow\"\n\nIt was.\n");
	check(s, 0, "reverts~ 1");
	story_addf(s, "Revert \"mm: slow\"\n\nThis reverts commit 0123456789abcdef.\n");
	check(s, 0, "reverts~ 2; reverts~ 1");
}

/* A tag in a revert speaks of the commit that it takes back. */
static void a_tag_in_a_revert_is_no_fix(void **state)
{
	struct story *s = *state;

	story_addf(s, "mm: slow");
	story_addf(s, "mm: other");
	story_addf(
		s,
		"Revert \"mm: other\"\n\nThis reverts commit %s.\n\nFixes: %.12s (\"mm: slow\")\n",
		s->id[1], s->id[0]);
	check(s, 0, "");
	check(s, 1, "reverts 2");
}

static void a_merge_is_not_fixed_but_can_be_reverted(void **state)
{
	struct story *s = *state;
	const char *side;

	story_addf(s, "start");
	side = story_add(s, "side", NULL, "side: work");
	(void)story_add(s, "main", side, "side into main");
	story_addf(s, "x: y\n\nFixes: %.12s (\"side into main\")\n", s->id[2]);
	check(s, 2, "");
	story_addf(s, "Revert \"side into main\"\n\nThis reverts commit %s, reversing\nchanges\n",
		   s->id[2]);
	check(s, 2, "reverts 4");
}

/* What lies below a culprit, or beside it, cannot tell of it by its title. */
static void looks_only_at_what_came_after(void **state)
{
	struct story *s = *state;
	const char *two[2];
	struct fixes_claims c = { 0 };
	struct err e = { 0 };

	story_addf(s, "start");
	story_addf(s, "old: slow");
	story_addf(s, "mm: odd\n\nFixes: 0123456789ab (\"new: slow\")\n");
	story_addf(s, "new: slow");
	story_addf(s, "both: fix\n\nFixes: %.12s (\"old: slow\")\nFixes: %.12s (\"new: slow\")\n",
		   s->id[1], s->id[3]);
	check(s, 3, "fixes 4");
	two[0] = s->id[3];
	two[1] = s->id[1];
	assert_ok(fixes_scan(s->repo.git, s->id[4], two, 2, 0, &c, &e), &e);
	assert_int_equal(c.v.len, 2);
	assert_int_equal(c.v.items[0].culprit + c.v.items[1].culprit, 1);
	assert_string_equal(c.v.items[0].hash, s->id[4]);
	assert_string_equal(c.v.items[0].title, "both: fix");
	fixes_claims_done(&c);
	/* the tip is the culprit itself, or lies before it */
	assert_ok(fixes_scan(s->repo.git, s->id[3], two, 1, 0, &c, &e), &e);
	assert_int_equal(c.v.len, 0);
	assert_ok(fixes_scan(s->repo.git, s->id[0], two, 2, 0, &c, &e), &e);
	assert_int_equal(c.v.len, 0);
}

/* The branch was rebuilt: the culprit is gone from it, and what is there fixes it by its id. */
static void a_rebuilt_branch_may_name_a_commit_that_it_lost(void **state)
{
	struct story *s = *state;

	story_addf(s, "start");
	(void)story_add(s, "old", NULL, "mm: slow");
	story_addf(s, "mm: fix\n\nFixes: %.12s (\"mm: slow\")\n", s->id[1]);
	check(s, 1, "fixes 2");
}

static void keeps_the_newest_and_says_when_it_stopped(void **state)
{
	struct story *s = *state;
	struct fixes_claims c = { 0 };
	struct err e = { 0 };
	const char *hash;

	story_addf(s, "mm: slow");
	for (int i = 0; i < FIXES_CLAIMS_MAX + 2; i++)
		story_addf(s, "mm: fix %d\n\nFixes: %.8s (\"mm: slow\")\n", i, s->id[0]);
	hash = s->id[0];
	assert_ok(fixes_scan(s->repo.git, s->id[s->n - 1], &hash, 1, 0, &c, &e), &e);
	assert_int_equal(c.v.len, FIXES_CLAIMS_MAX);
	assert_true(c.cut);
	assert_string_equal(c.v.items[0].hash, s->id[s->n - 1]);
	fixes_claims_done(&c);
	assert_ok(fixes_scan(s->repo.git, s->id[s->n - 1], &hash, 1, 2, &c, &e), &e);
	assert_int_equal(c.v.len, 2);
	assert_true(c.cut);
	fixes_claims_done(&c);
}

static void survives_what_others_write(void **state)
{
	static const char *const bad[] = { "HEAD", "" };
	static const char *const none[] = { "0123456789012345678901234567890123456789" };
	struct story *s = *state;
	struct fixes_claims c = { .cut = true };
	struct strbuf big = STRBUF_INIT;
	struct err e = { 0 };
	const char *hash, *many[FIXES_CULPRITS_MAX + 1];

	story_addf(s, "mm: slow \x1b[31m\xff");
	strbuf_addstr(&big, "mm: big\n\n");
	while (big.len < 1500000)
		strbuf_addf(&big, "Fixes: %s (\"(\"\n", s->id[0]);
	(void)story_add(s, "main", NULL, big.s);
	strbuf_done(&big);
	(void)story_add(s, "main", NULL, "");
	(void)story_add(s, "main", NULL, "\n\n \n");
	story_addf(s, "mm: title\n\nFixes: 0123456789ab (\"mm: slow \x1b[31m\xff\")\n");
	story_addf(
		s,
		"Revert \"\n\nThis reverts commit \nFixes: \nFixes: (\nThis reverts commit ffff");
	check(s, 0, "fixes~ 4");
	hash = s->id[5];
	assert_err(fixes_scan(s->repo.git, "main", &hash, 1, 0, &c, &e), ERR_INVAL, &e);
	assert_err(fixes_scan(s->repo.git, none[0], &hash, 1, 0, &c, &e), ERR_NOENT, &e);
	assert_err(fixes_scan(s->repo.git, hash, bad, 2, 0, &c, &e), ERR_INVAL, &e);
	for (size_t i = 0; i <= FIXES_CULPRITS_MAX; i++)
		many[i] = hash;
	assert_err(fixes_scan(s->repo.git, hash, many, FIXES_CULPRITS_MAX + 1, 0, &c, &e),
		   ERR_TOO_BIG, &e);
	assert_true(c.cut);
	assert_ok(fixes_scan(s->repo.git, hash, many, FIXES_CULPRITS_MAX, 0, &c, &e), &e);
	assert_int_equal(c.v.len, 0);
	assert_ok(fixes_scan(s->repo.git, hash, none, 1, 0, &c, &e), &e);
	assert_int_equal(c.v.len, 0);
	assert_ok(fixes_scan(s->repo.git, hash, NULL, 0, 0, &c, &e), &e);
}

#define WITH_STORY(test) cmocka_unit_test_setup_teardown(test, story_set_up, story_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORY(finds_a_fix_by_id_and_by_the_only_title),
		WITH_STORY(a_revert_counts_until_it_is_taken_back_itself),
		WITH_STORY(a_fix_that_was_reverted_does_not_count),
		WITH_STORY(a_revert_may_give_the_title_alone),
		WITH_STORY(a_tag_in_a_revert_is_no_fix),
		WITH_STORY(a_merge_is_not_fixed_but_can_be_reverted),
		WITH_STORY(looks_only_at_what_came_after),
		WITH_STORY(a_rebuilt_branch_may_name_a_commit_that_it_lost),
		WITH_STORY(keeps_the_newest_and_says_when_it_stopped),
		WITH_STORY(survives_what_others_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
