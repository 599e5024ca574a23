/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A web server over the rows of fixture.h, a git mirror and an artefact store; for one executable. */
#pragma once

/* reply_done(&r) is called where @r's scope ends. */
#define DO_GET(r, path)                               \
	_cleanup_(reply_done) struct reply r = { 0 }; \
	client_get(path, &(r))

struct config;
struct web;

extern struct config *served_config;
extern struct web *served_web;
/* The first may ask for bisections, the others may not; the last may change those of others. */
extern char *served_token, *served_weak_token, *served_admin_token;
/*
 * The mirror's branch 'master' of tree 'linus', oldest first; tag v1 is the first of them. Branch
 * 'side' left it at the second, 'apart' is another history.
 */
extern char served_commits[4][41];
/*
 * A commit of tree 'other' on top of master. In tree 'linus' tag 'of-tree' is no commit, and 'both'
 * is a tag and a branch.
 */
extern char served_other[41];

/** served_start(), served_stop() - for cmocka_run_group_tests(). */
int served_start(void **state);
int served_stop(void **state);
