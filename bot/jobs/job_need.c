/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/job_need.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/build.h"

#include "bot/store/job.h"
#include <string.h>

int job_kconfig_hash(const struct job_ctx *c, const char *name, char ret[65], struct err *e)
{
	_cleanup_(freep) const char **fragments = NULL;
	int r;

	ret[0] = '\0';
	if (!name[0])
		return 0;
	if (!config_has(c->config, "kconfig", name))
		return err_set(e, ERR_CONFIG,
			       "there is no [kconfig \"%s\"] in the configuration any more", name);
	fragments = config_all(c->config, "kconfig", name, "fragment");
	r = build_kconfig_hash(config_str(c->config, "kconfig", name, "base"), fragments,
			       config_count(fragments), ret, e);
	return r < 0 ? err_wrap(e, "kconfig '%s'", name) : 0;
}

static int want(struct job_ctx *c, const struct job *job, const char *commit, const char *variant,
		int prio, int64_t *ret_build, enum build_state *ret, struct err *e)
{
	_cleanup_(freep) char *compiler = NULL;
	char hash[65];
	int r;

	r = job_kconfig_hash(c, job->kconfig, hash, e);
	if (r == 0)
		r = build_compiler(&compiler, e);
	if (r == 0)
		r = build_want(c->db, commit, job->kconfig, hash, compiler, variant, prio,
			       ret_build, ret, e);
	return r;
}

int need_build_ahead(struct job_ctx *c, const struct job *job, const char *commit, struct err *e)
{
	enum build_state state;
	int64_t build;

	return want(c, job, commit, "", -1, &build, &state, e);
}

static int need(struct job_ctx *c, const struct job *job, const char *commit, const char *variant,
		int prio, int64_t *ret_build, enum need_state *ret, struct err *e)
{
	enum build_state state = BUILD_STATE_WANTED;
	int r;

	*ret_build = 0;
	*ret = NEED_READY;
	if (!job->kconfig[0])
		return 0;
	r = want(c, job, commit, variant, prio, ret_build, &state, e);
	if (r < 0)
		return r;
	*ret = state == BUILD_STATE_OK	     ? NEED_READY
	       : state == BUILD_STATE_FAILED ? NEED_FAILED
					     : NEED_WAIT;
	return 0;
}

int need_build_variant(struct job_ctx *c, const struct job *job, const char *commit,
		       const char *variant, int64_t *ret_build, enum need_state *ret, struct err *e)
{
	return need(c, job, commit, variant, 0, ret_build, ret, e);
}

int need_build(struct job_ctx *c, const struct job *job, const char *commit, int prio,
	       int64_t *ret_build, enum need_state *ret, struct err *e)
{
	return need(c, job, commit, "", prio, ret_build, ret, e);
}

/* "x86" of arch/x86/boot/bzImage. */
char *job_arch(const struct job_ctx *c, const char *name)
{
	const char *image = config_has(c->config, "kconfig", name)
				    ? config_str(c->config, "kconfig", name, "image")
				    : NULL;

	if (image && !strncmp(image, "arch/", 5) && strchr(image + 5, '/'))
		return xstrndup(image + 5, strcspn(image + 5, "/"));
	return xstrdup("x86");
}
