/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Build a commit and store image, configuration and log. A failed build is a result. */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/db/db.h"
#include "bot/jobs/job_ctx.h"
#include "bot/store/artefact.h"
#include "bot/store/build.h"

#include <string.h>

#define MAX_IMAGE ((size_t)512 << 20)
#define MAX_LOG	  ((size_t)128 << 20)
#define MAX_LIST  ((size_t)64 << 20)

struct built {
	struct job_ctx *c;
	int64_t id;
	struct build_outcome o;
	char image[65], config[65], log[65], objects[65], deps[65];
};

static int store_built(struct db *db, void *arg, struct err *e)
{
	struct built *b = arg;
	int r;

	r = build_finish(db, b->id, &b->o, e);
	FAILPOINT("build.before_commit");
	return r < 0 ? r : job_finish(b->c, e);
}

static int keep(struct built *b, const char *kind, const char *path, size_t max, char hash[65],
		const char **ret, struct err *e)
{
	int r;

	if (!path)
		return 0;
	r = artefact_put_file(b->c->db, b->c->state_dir, kind, path, max, hash, e);
	if (r == 0)
		*ret = hash;
	return r;
}

/* One work folder per kconfig and variant: builds of one recipe follow each other incrementally. */
static int run_build(struct job_ctx *c, const struct build *row, struct build_result *ret,
		     struct err *e)
{
	const struct config *cfg = c->config;
	_cleanup_(freep) const char **fragments =
		config_all(cfg, "kconfig", row->kconfig, "fragment");
	_cleanup_(freep) char *mirror = job_mirror_dir(c);
	_cleanup_(freep) char *work = xasprintf("%s/build/%s%s%s", c->state_dir, row->kconfig,
						row->variant[0] ? "+" : "", row->variant);
	const char *given = config_str(cfg, "build", NULL, "ccache-dir");
	_cleanup_(freep) char *ccache =
		given ? xstrdup(given) : xasprintf("%s/ccache", c->state_dir);
	_cleanup_(freep) char *size = xasprintf(
		"%lldM", (long long)(config_i64(cfg, "build", NULL, "ccache-size") >> 20));
	struct build_request q = {
		.mirror = mirror,
		.commit = row->commit,
		.kconfig_base = config_str(cfg, "kconfig", row->kconfig, "base"),
		.fragments = fragments,
		.n_fragments = config_count(fragments),
		.variant = row->variant,
		.target = config_str(cfg, "kconfig", row->kconfig, "target"),
		.image = config_str(cfg, "kconfig", row->kconfig, "image"),
		.work_dir = work,
		.jobs = (unsigned)config_i64(cfg, "build", NULL, "jobs"),
		.timeout_s = config_f64(cfg, "build", NULL, "timeout"),
		.output_limit = (size_t)config_i64(cfg, "build", NULL, "output-limit"),
		.ccache_dir = ccache,
		.ccache_size = size,
	};
	int r;

	r = file_mkdirs(work, 0755, e);
	return r < 0 ? r : build_run(&q, ret, e);
}

static int store_result(struct built *b, const struct build_result *res, struct err *e)
{
	int r;

	b->o.fail_class = res->end == BUILD_OK ? NULL : build_end_name(res->end);
	b->o.detail = res->detail;
	b->o.gnu_build_id = res->build_id[0] ? res->build_id : NULL;
	b->o.took_s = res->took_s;
	r = keep(b, "log", res->log, MAX_LOG, b->log, &b->o.log, e);
	if (r == 0)
		r = keep(b, "config", res->config, MAX_LOG, b->config, &b->o.config, e);
	if (r == 0)
		r = keep(b, "image", res->image, MAX_IMAGE, b->image, &b->o.image, e);
	if (r == 0)
		r = keep(b, "objects", res->objects, MAX_LIST, b->objects, &b->o.objects, e);
	if (r == 0)
		r = keep(b, "deps", res->deps, MAX_LIST, b->deps, &b->o.deps, e);
	FAILPOINT("build.stored");
	return r < 0 ? r : db_tx(b->c->db, store_built, b, e);
}

int job_build(struct job_ctx *c, struct err *e)
{
	_cleanup_(build_done) struct build row = { 0 };
	struct built b = { .c = c, .id = json_i64(c->payload, "build", 0) };
	struct build_result res = { 0 };
	char hash[65];
	int r;

	r = build_get(c->db, b.id, &row, e);
	if (r < 0)
		return r;
	if (row.state != BUILD_STATE_WANTED)
		return job_finish(c, e);
	r = job_kconfig_hash(c, row.kconfig, hash, e);
	if (r < 0)
		return r;
	if (strcmp(hash, row.kconfig_hash) != 0)
		return err_set(e, ERR_CONFIG,
			       "kconfig '%s' was changed after this build was asked for",
			       row.kconfig);
	log_info("build begins", lf_i64("BUILD_ID", b.id), lf_str("COMMIT", row.commit));
	r = run_build(c, &row, &res, e);
	/* Another worker builds this kconfig just now. */
	if (r == ERR_CONFLICT && e)
		r = e->code = ERR_TIMEOUT;
	if (r < 0)
		return r;
	for (size_t i = 0; i < res.n_warnings && i < 20; i++)
		log_warn("kconfig fragment", lf_i64("BUILD_ID", b.id),
			 lf_str("ERROR", res.warnings[i]));
	r = store_result(&b, &res, e);
	if (r == 0)
		log_info("build ended", lf_i64("BUILD_ID", b.id), lf_str("COMMIT", row.commit),
			 lf_str("STATE", build_end_name(res.end)),
			 lf_i64("DURATION_USEC", res.took_s * 1e6), lf_str("ERROR", res.detail));
	build_result_done(&res);
	return r;
}
