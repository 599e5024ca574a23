/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/web/served.h"

#include "bot/base/config.h"
#include "bot/store/token.h"
#include "tests/integration/web/client.h"
#include "tests/integration/web/fixture.h"
#include "tests/pg.h"
#include "tests/test.h"
#include "web/web.h"

/* After test.h, as it says. */
#include "tests/integration/repo.h"

struct config *served_config;
struct web *served_web;
char *served_token, *served_weak_token, *served_admin_token;
char served_commits[4][41];
char served_other[41];

static void make_mirror(void)
{
	char *hash;

	run("git init -q --bare mirror.git && git init -q -b master work");
	for (int i = 0; i < 4; i++) {
		hash = sh("cd work && echo %d > f && git add f && git commit -qm c%d >&2 && "
			  "git rev-parse HEAD",
			  i, i);

		(void)snprintf(served_commits[i], sizeof(served_commits[i]), "%s", hash);
		free(hash);
	}
	run("cd work && git tag v1 HEAD~3 && git push -q ../mirror.git "
	    "master:refs/kperfbot/tree/linus/heads/master v1:refs/kperfbot/tree/linus/tags/v1");
	run("cd work && git checkout -q -b side HEAD~2 && git commit -q --allow-empty -m s && "
	    "git checkout -q --orphan apart && git commit -qm a && git push -q ../mirror.git "
	    "side:refs/kperfbot/tree/linus/heads/side apart:refs/kperfbot/tree/linus/heads/apart");
	run("cd work && git tag both v1 && git branch both master && git tag -a -m t of-tree "
	    "master^{tree} && git push -q ../mirror.git "
	    "refs/tags/both:refs/kperfbot/tree/linus/tags/both "
	    "refs/heads/both:refs/kperfbot/tree/linus/heads/both "
	    "of-tree:refs/kperfbot/tree/linus/tags/of-tree && git checkout -q -f -b beside master && "
	    "git commit -q --allow-empty -m o && git push -q ../mirror.git "
	    "beside:refs/kperfbot/tree/other/heads/beside");
	hash = sh("cd work && git rev-parse beside");
	(void)snprintf(served_other, sizeof(served_other), "%s", hash);
	free(hash);
	run("mkdir -p artefacts/00 && echo 'mm/demo.c:12: error: <oops>' > artefacts/00/%064d", 4);
}

int served_start(void **state)
{
	static const char *const scope[] = { "bisect", NULL }, *const other[] = { "triage", NULL };
	static const char *const admin[] = { "bisect-admin", NULL };
	struct web_options o = { 0 };
	_cleanup_(freep) char *path = NULL, *text = NULL;
	struct err e = { 0 };

	if (pg_start(state) != 0)
		return -1;
	repo_scratch = xstrdup(pg_dir());
	fixture_fill();
	make_mirror();
	path = xasprintf("%s/k.conf", pg_dir());
	text = xasprintf(
		"[kperfbot]\nstate = %s\n[web]\nlisten = 127.0.0.1:0\n[tree \"linus\"]\n"
		"url = https://git.example.org/linux.git\n[kconfig \"tiny\"]\nbase = tinyconfig\n"
		"[machine \"q1\"]\ndriver = qemu\ngroup = q\n[job \"pf1\"]\ngroup = q\n"
		"kconfig = tiny\nsuite = will-it-scale\ntest = page_fault1\nmode = process\n"
		"nr-task = 1\n[job \"brk\"]\ngroup = q\nkconfig = tiny\nsuite = will-it-scale\n"
		"test = brk1\nmode = process\nnr-task = 1\n",
		pg_dir());
	assert_ok(file_write(path, text, strlen(text), 0600, &e), &e);
	assert_ok(config_load(path, &served_config, &e), &e);
	assert_ok(token_add(pg_db(), "ci", scope, 1, &served_token, &e), &e);
	assert_ok(token_add(pg_db(), "weak", other, 1, &served_weak_token, &e), &e);
	assert_ok(token_add(pg_db(), "boss", admin, 1, &served_admin_token, &e), &e);
	o.config = served_config;
	o.conninfo = xstrdup(pg_conninfo());
	assert_ok(web_start(&o, &served_web, &e), &e);
	client_port(web_port(served_web));
	*state = (void *)(uintptr_t)o.conninfo;
	return 0;
}

int served_stop(void **state)
{
	web_stop(served_web);
	config_free(served_config);
	free(served_token);
	free(served_weak_token);
	free(served_admin_token);
	free(*state);
	free(repo_scratch);
	return pg_stop(state);
}
