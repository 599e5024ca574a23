/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Fixes tags of real kernels name: unknown ids, short ids, merges and reverts. */
#include "bot/base/cleanup.h"
#include "bot/mail/trailers.h"
#include "bot/watch/fixes.h"
#include "tests/integration/fixes/story.h"

/* What the first tag of @message names in the history of @tip. */
static struct fixes_named resolve(const struct story *s, const char *tip, const char *message)
{
	struct trailers t = { 0 };
	struct fixes_named ret = { 0 };
	struct err e = { 0 };

	assert_ok(trailers_parse(message, strlen(message), &t, &e), &e);
	assert_true(t.fixes.len >= 1);
	assert_ok(fixes_resolve(s->repo.git, tip, t.fixes.items, 1, &ret, &e), &e);
	trailers_done(&t);
	return ret;
}

static void check(const struct story *s, const char *tip, const char *tag, enum fixes_end end,
		  const char *hash, bool by_title)
{
	_cleanup_(freep) char *message = xasprintf("x: y\n\ntext\n\n%s\n", tag);
	struct fixes_named n = resolve(s, tip, message);

	if (n.end != end || strcmp(n.hash, hash) != 0 || n.by_title != by_title)
		fail_msg("'%s' is %s %s%s", tag, fixes_end_name(n.end), n.hash,
			 n.by_title ? " by title" : "");
}

#define ROWS 20

/* The table of real tags: the tag with its line breaks, and the title within it on one line. */
struct row {
	int n;
	char tag[300];
	char title[200];
	size_t digits;
};

static void read_rows(struct row rows[ROWS])
{
	FILE *f = fopen(TEST_SOURCE_DIR "/tests/data/mail/fixes-tags.tsv", "re");
	char line[600];
	int n = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f)) {
		struct row *r = &rows[n++];
		char *tag = strchr(line, '\t') + 1, *break_at, *open;

		assert_true(n <= ROWS);
		*strchr(tag, '\t') = '\0';
		break_at = strstr(tag, "\\n");
		if (break_at) {
			*break_at = '\n';
			memmove(break_at + 1, break_at + 2, strlen(break_at + 2) + 1);
		}
		r->n = atoi(line);
		assert_int_equal(r->n, n);
		(void)snprintf(r->tag, sizeof(r->tag), "%s", tag);
		open = strchr(tag, '(');
		r->digits = strspn(tag + 7, "0123456789abcdef");
		(void)snprintf(r->title, sizeof(r->title), "%s", open + (open[1] == '"' ? 2 : 1));
		r->title[strlen(r->title) - (open[1] == '"' ? 2 : 1)] = '\0';
		break_at = strchr(r->title, '\n');
		if (break_at && break_at[-1] == ' ')
			memmove(break_at, break_at + 1, strlen(break_at));
		else if (break_at)
			*break_at = ' ';
	}
	assert_int_equal(n, ROWS);
	(void)fclose(f);
}

/* The tag of @r with the first digits of @hash, as many as it has. */
static char *tag_with(const struct row *r, const char *hash)
{
	return xasprintf("Fixes: %.*s%s", (int)r->digits, hash, r->tag + 7 + r->digits);
}

/* Which commit of the story has the title of row @n (from 1). */
static int told[ROWS + 1];

/*
 * The titles of the table as a history: rows 1 to 9 once, 10 twice (the tree was rebased and both
 * stayed), 11 never; those of the short ids once, and row 15 as the merge that it is.
 */
static void tell(struct story *s, const struct row rows[ROWS])
{
	for (int i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		told[r->n] = s->n;
		if (r->n == 15) {
			const char *side = story_add(s, "side", NULL, "io_uring: a fix");

			told[r->n] = s->n;
			(void)story_add(s, "main", side, r->title);
		} else if (r->n == 11) {
			story_addf(s, "%s, or nearly so", r->title);
		} else {
			story_addf(s, "%s\n\ntext\n", r->title);
		}
		if (r->n == 10)
			story_addf(s, "%s\n", r->title);
	}
}

static void check_row(const struct story *s, const struct row *r, const char *tip)
{
	const char *hash = s->id[told[r->n]];
	_cleanup_(freep) char *tag = tag_with(r, hash);

	if (r->n == 8) {
		_cleanup_(freep) char *m = xasprintf(
			"Revert \"arm64: demo\"\n\nThis reverts commit 0123456789ab.\n\n%s\n",
			r->tag);
		struct fixes_named n = resolve(s, tip, m);

		assert_int_equal(n.end, FIXES_REVERT);
		assert_string_equal(n.hash, "");
	} else if (r->n == 10) {
		check(s, tip, r->tag, FIXES_TITLES, "", false);
	} else if (r->n == 11) {
		check(s, tip, r->tag, FIXES_UNKNOWN, "", false);
	} else if (r->n == 15) {
		check(s, tip, r->tag, FIXES_MERGE, "", false);
		check(s, tip, tag, FIXES_MERGE, "", false);
	} else {
		/* the unknown id leads to the only commit of the title, the short id to its own */
		check(s, tip, r->tag, FIXES_FOUND, hash, true);
		check(s, tip, tag, FIXES_FOUND, hash, false);
	}
}

static void every_real_tag_is_resolved_as_git_and_people_do(void **state)
{
	static struct row rows[ROWS];
	struct story *s = *state;
	const char *tip;

	read_rows(rows);
	tell(s, rows);
	tip = s->id[s->n - 1];
	for (int i = 0; i < ROWS; i++)
		check_row(s, &rows[i], tip);
	/* nothing of it is in a history that ends before */
	check(s, s->id[0], rows[1].tag, FIXES_UNKNOWN, "", false);
	/* a commit that is there, but not in this history, counts by its title alone */
	{
		_cleanup_(freep) char *tag = tag_with(&rows[15], s->id[told[16]]);

		check(s, s->id[told[12]], tag, FIXES_UNKNOWN, "", false);
	}
}

static void a_title_must_be_the_same_to_the_letter(void **state)
{
	struct story *s = *state;
	const char *tip;

	story_addf(s, "mm: take the lock");
	tip = story_addf(
		s, "mm: \"quoted\" (and in brackets)\nover two lines \n\nmm: take the lock\n");
	check(s, tip, "Fixes: 0123456789ab (\"mm: take the lock\")", FIXES_FOUND, s->id[0], true);
	check(s, tip, "Fixes: 0123456789ab (\"mm: take the lock.\")", FIXES_UNKNOWN, "", false);
	check(s, tip, "Fixes: 0123456789ab (\"mm: Take the lock\")", FIXES_UNKNOWN, "", false);
	check(s, tip, "Fixes: 0123456789ab (\"mm: take the loc\")", FIXES_UNKNOWN, "", false);
	check(s, tip, "Fixes: 0123456789ab", FIXES_UNKNOWN, "", false);
	check(s, tip, "Fixes: 0123456789ab (\"mm: \"quoted\" (and in brackets) over two lines\")",
	      FIXES_FOUND, s->id[1], true);
	check(s, tip, "Fixes: the boot problem", FIXES_NO_ID, "", false);
	check(s, tip, "Fixes: 0123456 (\"mm: take the lock\")", FIXES_NO_ID, "", false);
}

/* A commit without parents whose first eight digits another object has too. */
static git_oid write_object(const struct story *s, git_object_t type, int n)
{
	_cleanup_(freep) char *text = NULL;
	git_odb *odb;
	git_oid oid;

	if (type == GIT_OBJECT_COMMIT)
		text = xasprintf("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
				 "author A <a@example.org> 1700000000 +0000\n"
				 "committer A <a@example.org> 1700000000 +0000\n\ncollision %d\n",
				 n);
	else
		text = xasprintf("collision %d\n", n);
	assert_int_equal(git_repository_odb(&odb, s->repo.git), 0);
	assert_int_equal(git_odb_write(&oid, odb, text, strlen(text), type), 0);
	git_odb_free(odb);
	return oid;
}

static void an_ambiguous_id_is_not_resolved_and_never_by_title(void **state)
{
	struct story *s = *state;
	char hash[41], tree[41];
	git_treebuilder *tb;
	git_oid oid;

	/* an empty tree, to be a commit's */
	assert_int_equal(git_treebuilder_new(&tb, s->repo.git, NULL), 0);
	assert_int_equal(git_treebuilder_write(&oid, tb), 0);
	git_treebuilder_free(tb);
	(void)git_oid_tostr(tree, sizeof(tree), &oid);
	assert_string_equal(tree, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");

	(void)write_object(s, GIT_OBJECT_COMMIT, 131242);
	oid = write_object(s, GIT_OBJECT_COMMIT, 153215);
	(void)git_oid_tostr(hash, sizeof(hash), &oid);
	assert_memory_equal(hash, "7638b6be", 8);
	check(s, hash, "Fixes: 7638b6be (\"collision 153215\")", FIXES_AMBIGUOUS, "", false);
	{
		_cleanup_(freep) char *tag = xasprintf("Fixes: %.20s (\"what it says\")", hash);

		check(s, hash, tag, FIXES_FOUND, hash, false);
	}

	/* a file with the same digits is no other commit, for git as well */
	(void)write_object(s, GIT_OBJECT_BLOB, 1358);
	oid = write_object(s, GIT_OBJECT_COMMIT, 167107);
	(void)git_oid_tostr(hash, sizeof(hash), &oid);
	assert_memory_equal(hash, "f6064981", 8);
	check(s, hash, "Fixes: f6064981 (\"x\")", FIXES_FOUND, hash, false);
	{
		_cleanup_(freep) char *of_git =
			repo_sh(&s->repo, "git rev-parse --verify 'f6064981^{commit}' 2>&1");

		assert_string_equal(of_git, hash);
	}
	(void)write_object(s, GIT_OBJECT_BLOB, 30054);
	check(s, hash, "Fixes: e6582b39 (\"a file\")", FIXES_UNKNOWN, "", false);
}

/* Whoever can push a branch must not decide what ids mean. */
static void a_branch_named_like_an_id_is_not_asked(void **state)
{
	struct story *s = *state;
	const char *tip;

	story_addf(s, "one");
	tip = story_addf(s, "two");
	free(repo_sh(&s->repo, "git branch 0123456789ab main && git tag deadbeef01 main"));
	check(s, tip, "Fixes: 0123456789ab (\"one\")", FIXES_FOUND, s->id[0], true);
	check(s, tip, "Fixes: deadbeef01 (\"none\")", FIXES_UNKNOWN, "", false);
}

static void many_tags_cost_one_walk_and_bad_tips_are_refused(void **state)
{
	struct story *s = *state;
	struct trailer_fix fixes[600];
	struct fixes_named named[600] = { 0 };
	char titles[600][24], id[] = "0123456789ab";
	struct err e = { 0 };
	const char *tip;

	story_addf(s, "title 7");
	tip = story_addf(s, "title 599");
	for (int i = 0; i < 600; i++) {
		(void)snprintf(titles[i], sizeof(titles[i]), "title %d", i);
		fixes[i] = (struct trailer_fix){ id, titles[i], true, false };
	}
	assert_ok(fixes_resolve(s->repo.git, tip, fixes, 600, named, &e), &e);
	for (int i = 0; i < 600; i++)
		assert_string_equal(named[i].hash, i == 7 ? s->id[0] : i == 599 ? s->id[1] : "");
	named[0].end = FIXES_MERGE;
	assert_err(fixes_resolve(s->repo.git, "main", fixes, 1, named, &e), ERR_INVAL, &e);
	assert_err(fixes_resolve(s->repo.git, "0123456789012345678901234567890123456789", fixes, 1,
				 named, &e),
		   ERR_NOENT, &e);
	assert_int_equal(named[0].end, FIXES_MERGE);
	assert_ok(fixes_resolve(s->repo.git, tip, fixes, 0, named, &e), &e);
}

static void a_commit_is_looked_for_where_the_history_has_it_now(void **state)
{
	struct story *s = *state;
	const char *asked[4];
	char here[4][41];
	struct err e = { 0 };

	story_addf(s, "start");
	(void)story_add(s, "old", NULL, "mm: slow");
	story_addf(s, "mm: slow");
	asked[0] = s->id[0];
	asked[1] = s->id[1];
	asked[2] = s->id[2];
	asked[3] = "0123456789012345678901234567890123456789";
	assert_ok(fixes_here(s->repo.git, s->id[2], asked, 4, here, &e), &e);
	assert_string_equal(here[0], s->id[0]);
	assert_string_equal(here[1], s->id[2]);
	assert_string_equal(here[2], s->id[2]);
	assert_string_equal(here[3], "");
	/* with two of the title there is no telling */
	story_addf(s, "mm: slow");
	assert_ok(fixes_here(s->repo.git, s->id[3], asked, 2, here, &e), &e);
	assert_string_equal(here[1], "");
	asked[0] = "main";
	assert_err(fixes_here(s->repo.git, s->id[3], asked, 2, here, &e), ERR_INVAL, &e);
}

#define WITH_STORY(test) cmocka_unit_test_setup_teardown(test, story_set_up, story_tear_down)

/* Many are looked for in one walk: each is found as if it were asked for alone. */
static void many_ids_are_found_as_each_is_alone(void **state)
{
	struct story *s = *state;
	_cleanup_(strbuf_done) struct strbuf message = STRBUF_INIT;
	struct fixes_named all[12];
	struct trailers t = { 0 };
	struct err e = { 0 };
	const char *aside;

	for (int i = 0; i < 8; i++)
		story_addf(s, "mm: number %d\n", i);
	aside = story_add(s, "side", NULL, "mm: aside");
	story_addf(s, "mm: last\n");
	strbuf_addstr(&message, "x: y\n\ntext\n\n");
	for (int i = 0; i < 8; i++)
		strbuf_addf(&message, "Fixes: %.12s (\"mm: other %d\")\n", s->id[7 - i], i);
	strbuf_addf(&message, "Fixes: %.12s (\"mm: other\")\n", s->id[3]);
	strbuf_addf(&message, "Fixes: %.12s (\"mm: aside\")\n", aside);
	strbuf_addf(&message, "Fixes: %.12s (\"mm: number 5\")\n", aside);
	strbuf_addstr(&message, "Fixes: 0123456789ab (\"mm: number 4\")\n");
	assert_ok(trailers_parse(message.s, message.len, &t, &e), &e);
	assert_int_equal(t.fixes.len, 12);
	assert_ok(fixes_resolve(s->repo.git, s->id[7], t.fixes.items, 12, all, &e), &e);
	for (size_t i = 0; i < 12; i++) {
		struct fixes_named one;

		assert_ok(fixes_resolve(s->repo.git, s->id[7], &t.fixes.items[i], 1, &one, &e), &e);
		assert_int_equal(all[i].end, one.end);
		assert_int_equal(all[i].by_title, one.by_title);
		assert_string_equal(all[i].hash, one.hash);
	}
	assert_string_equal(all[8].hash, s->id[3]);
	assert_int_equal(all[9].end, FIXES_UNKNOWN);
	assert_string_equal(all[10].hash, s->id[5]);
	assert_true(all[10].by_title && all[11].by_title);
	trailers_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORY(every_real_tag_is_resolved_as_git_and_people_do),
		WITH_STORY(a_title_must_be_the_same_to_the_letter),
		WITH_STORY(an_ambiguous_id_is_not_resolved_and_never_by_title),
		WITH_STORY(a_branch_named_like_an_id_is_not_asked),
		WITH_STORY(a_commit_is_looked_for_where_the_history_has_it_now),
		WITH_STORY(many_ids_are_found_as_each_is_alone),
		WITH_STORY(many_tags_cost_one_walk_and_bad_tips_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
