/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kperfbot trailers --repo` as a script sees it. */
#include "bot/base/cleanup.h"
#include "tests/integration/fixes/story.h"

/* Output and exit code of kperfbot trailers with @message on stdin; both streams. */
static void check(const struct story *s, const char *message, const char *args, int want,
		  const char *say)
{
	_cleanup_(freep) char *path = xasprintf("%s/message", s->repo.dir), *out = NULL,
			      *code = NULL;
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	(void)fputs(message, f);
	(void)fclose(f);
	free(repo_sh(&s->repo, "'%s/kperfbot' trailers %s < message > out 2>&1; echo $? > code",
		     TEST_BIN_DIR, args));
	out = repo_sh(&s->repo, "cat out");
	code = repo_sh(&s->repo, "cat code");
	if (atoi(code) != want || !strstr(out, say))
		fail_msg("'%s' gave %s and '%s'", args, code, out);
}

static void tells_which_commit_a_tag_names(void **state)
{
	struct story *s = *state;
	_cleanup_(freep) char *found = NULL, *by_title = NULL, *message = NULL, *text = NULL;

	story_addf(s, "mm: slow");
	story_addf(s, "mm: other");
	message =
		xasprintf("mm: fast\n\nFixes: %.8s (\"mm: slow\")\n"
			  "Fixes: 0123456789ab (\"mm: other\")\nFixes: fedcba9876 (\"mm: none\")\n"
			  "Fixes: the boot\n",
			  s->id[0]);
	found = xasprintf("{\"by\":\"id\",\"commit\":\"%s\",", s->id[0]);
	by_title = xasprintf("{\"by\":\"title\",\"commit\":\"%s\",", s->id[1]);
	text = xasprintf("is %.12s, by its title", s->id[1]);
	check(s, message, "--json --repo .", 0, found);
	check(s, message, "--json --repo .", 0, by_title);
	check(s, message, "--json --repo .", 0,
	      "\"unresolved\":\"unknown\",\"why\":\"no commit of this id or title\"");
	check(s, message, "--json --repo .", 0, "\"unresolved\":\"no-id\"");
	check(s, message, "--repo .", 0, text);
	check(s, message, "--repo .", 0, "no commit of this id or title");
	/* in the history of the first commit there is no other */
	check(s, message, "--json --repo . --at main~1", 0,
	      "\"title\":\"mm: other\",\"unresolved\"");
	/* without a repository all is as before */
	check(s, message, "--json", 0, "\"ok\":true,\"title\":\"mm: slow\"}");
	check(s, "Revert \"x\"\n\nFixes: 0123456789ab (\"mm: slow\")\n", "--json --repo . -", 0,
	      "\"unresolved\":\"revert\"");
	check(s, "x: y\n\nFixes: 0123456789ab (\"Merge tag 'x'\")\n", "--json --repo .", 0,
	      "\"unresolved\":\"merge\"");
	check(s, "no tags\n", "--json --repo .", 0, "\"fixes\":[]");
}

static void says_what_is_wrong(void **state)
{
	struct story *s = *state;

	story_addf(s, "start");
	check(s, "x", "--repo /nonexistent", 128, "/nonexistent");
	check(s, "x", "--repo . --at nothing", 129, "'nothing'");
	check(s, "x", "--repo . --at main:", 129, "not a commit");
	check(s, "x", "--at main", 129, "--repo");
	check(s, "x", "--bogus", 129, "--bogus");
	free(repo_sh(&s->repo, "git init -q empty"));
	check(s, "x\n\nFixes: 0123456789ab (\"x\")\n", "--repo empty", 129, "'HEAD'");
}

#define WITH_STORY(test) cmocka_unit_test_setup_teardown(test, story_set_up, story_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORY(tells_which_commit_a_tag_names),
		WITH_STORY(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
