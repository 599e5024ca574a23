/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/boot_run.h"

#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/lab/run_parse.h"
#include "bot/store/artefact.h"

#include <math.h>
#include <string.h>

void boot_run_done(struct boot_run *r)
{
	suite_output_done(&r->out);
	free(r->detail);
	free(r->about);
	free(r->files);
	*r = (struct boot_run){ 0 };
}

static int put(struct job_ctx *c, const char *kind, const char *data, size_t len, char ret[65],
	       struct err *e)
{
	return artefact_put(c->db, c->state_dir, kind, data, len, ret, e);
}

static int store_files(struct job_ctx *c, const struct lab_run *run, struct boot_run *ret,
		       struct err *e)
{
	size_t n = 0;
	int r = 0;

	ret->files = xcalloc(run->nfiles + 1, sizeof(*ret->files));
	if (run->errors_len) {
		ret->files[n].name = "stderr";
		r = put(c, "file", run->errors, run->errors_len, ret->files[n++].artefact, e);
	}
	for (size_t i = 0; r == 0 && i < run->nfiles; i++) {
		ret->files[n].name = run->files[i].name;
		ret->files[n].truncated = run->files[i].truncated;
		r = put(c, "file", run->files[i].data, run->files[i].len, ret->files[n++].artefact,
			e);
	}
	ret->row.files = ret->files;
	ret->row.nfiles = n;
	if (r == 0 && run->raw_len) {
		r = put(c, "raw", run->raw, run->raw_len, ret->raw, e);
		ret->row.raw = ret->raw;
	}
	return r;
}

static void set_if(json_t *o, const char *key, const json_t *value)
{
	if (value && (json_object_size(value) || json_array_size(value)))
		(void)json_object_set(o, key, (json_t *)(uintptr_t)value);
}

static char *about_text(const struct lab_run *run, int tasks, int cpus)
{
	_cleanup_(json_decrefp) json_t *o = json_object();

	set_if(o, "rusage", run->rusage);
	set_if(o, "programs", run->programs);
	set_if(o, "monitors", run->monitors);
	set_if(o, "facts", run->facts);
	if (run->raw_truncated)
		(void)json_object_set_new(o, "truncated", json_true());
	if (fabs(run->clock_jump_s) > 0.001)
		(void)json_object_set_new(o, "clock_jump_s", json_real(run->clock_jump_s));
	if (run->taint)
		json_set_i64(o, "taint", (int64_t)run->taint);
	json_set_i64(o, "tasks", tasks);
	json_set_i64(o, "cpus", cpus);
	return json_text(o);
}

int boot_run_read(struct job_ctx *c, const struct job *job, const struct lab_result *lab, size_t i,
		  struct boot_run *ret, struct err *e)
{
	const struct lab_run *run = &lab->runs[i];
	_cleanup_(freep) struct run_text *files = xcalloc(run->nfiles + 1, sizeof(*files));
	struct run_texts t = {
		.raw = { NULL, run->raw ? run->raw : "", run->raw_len },
		.errors = { NULL, run->errors ? run->errors : "", run->errors_len },
		.files = files,
		.nfiles = run->nfiles,
		.rusage = run->rusage,
		.run_s = isfinite(run->run_s) ? run->run_s : run->wall_s,
		.tasks = (int)json_i64(lab->facts, "tasks", 0),
		.cpus = (int)json_i64(lab->facts, "cpus", 0),
	};
	bool profiled;
	int r;

	for (size_t k = 0; k < run->nfiles; k++)
		files[k] = (struct run_text){ run->files[k].name, run->files[k].data,
					      run->files[k].len };
	ret->about = about_text(run, t.tasks, t.cpus);
	ret->row = (struct run_row){ .n = (int)i + 1,
				     .class = lab_class_name(run->class),
				     .detail = run->detail,
				     .exit_status = run->exit_status,
				     .wall_s = isfinite(run->wall_s) ? run->wall_s : 0,
				     .run_s = run->run_s,
				     .host_s = run->host_s,
				     .about = ret->about };
	r = store_files(c, run, ret, e);
	if (r < 0 || run->class != LAB_OK)
		return r;
	r = run_parse(job, &t, &ret->out, &profiled, e);
	if (r < 0 || profiled || suite_metric_find(&ret->out, job->metric))
		return r;
	ret->detail =
		xasprintf("no value for %s: %s", job->metric,
			  ret->out.problems_n ? ret->out.problems[0].text : "it is not printed");
	ret->row.class = "parse";
	ret->row.detail = ret->detail;
	return 0;
}

char *boot_suite_version(const struct job *job, const struct lab_result *lab)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	const json_t *programs = lab->nruns ? lab->runs[0].programs : NULL;
	const struct suite *suite = suite_find(job->suite);
	bool bundled = suite && suite_is_bundled(suite);
	bool told = false; /* by files of the suite itself, not by what started them */
	const json_t *p;
	size_t i;
	char hash[65];

	json_array_foreach (programs, i, p)
		told |= !strncmp(json_str(p, "name", ""), "suite:", 6);
	json_array_foreach (programs, i, p) {
		bool ours = strstr(json_str(p, "path", ""), "kperfbot-workloads") != NULL;

		if (told ? strncmp(json_str(p, "name", ""), "suite:", 6) != 0 : ours)
			continue;
		bundled = false;
		strbuf_addf(&b, "%s %s\n", json_str(p, "name", ""), json_str(p, "sha256", ""));
	}
	if (bundled || !b.len)
		return xstrdup("bundled:" KPERFBOT_VERSION);
	file_sha256_hex(b.s, b.len, hash);
	return xasprintf("upstream:%.12s", hash);
}
