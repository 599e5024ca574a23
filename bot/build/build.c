/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/build/build.h"

#include "bot/base/child.h"
#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/build/build_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define TIMEOUT_S    7200
#define OUTPUT_LIMIT ((size_t)64 << 20)
#define IMAGE_MAX    ((size_t)1 << 30)
#define NOBODY	     65534
#define FREE_MIN     ((uintmax_t)512 << 20)

/* One build under way. */
struct job {
	const struct build_request *req;
	const char *target, *image;
	struct workdir w;
	struct build_result r;
	struct strbuf log;
	struct strbuf fragments;
	usec_t start;
	double timeout_s;
	size_t output_limit;
	bool stale;
};

#define ALIGNED "-falign-functions=64"

static bool is_aligned(const struct build_request *req)
{
	return req->variant && !strcmp(req->variant, "align64");
}

static bool variant_known(const char *variant)
{
	return !variant || !variant[0] || !strcmp(variant, "align64");
}

static double since(usec_t t)
{
	return (double)(clock_boottime() - t) / USEC_PER_SEC;
}

static bool path_ok(const char *p)
{
	return p[0] != '-' && p[0] != '/' && p[0] != '\0' && !strstr(p, "..") && !strchr(p, '=') &&
	       strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
		       strlen(p);
}

static int check_request(const struct job *j, struct err *e)
{
	if (!parse_hash(j->req->commit))
		return err_set(e, ERR_INVAL, "'%s' is not a full commit hash", j->req->commit);
	if (!path_ok(j->target))
		return err_set(e, ERR_INVAL, "'%s' is not a make target", j->target);
	if (!path_ok(j->image))
		return err_set(e, ERR_INVAL, "'%s' is not a path below the build folder", j->image);
	if (!variant_known(j->req->variant))
		return err_set(e, ERR_INVAL, "no variant '%s' of builds, must be '' or 'align64'",
			       j->req->variant);
	return kconfig_check_base(j->req->kconfig_base, e);
}

static int check_space(const struct job *j, uintmax_t min, struct err *e)
{
	struct statvfs vfs;

	if (statvfs(j->w.o, &vfs) < 0)
		return err_errno(e, errno, "could not look at '%s'", j->w.o);
	if ((uintmax_t)vfs.f_bavail * vfs.f_frsize < min)
		return err_set(e, ERR_NOSPACE, "less than %ju MiB are free for builds in '%s'",
			       min >> 20, j->w.dir);
	return 0;
}

/*
 * 0: the script was content. 1: @j->r says how it ended. What may be the fault of this machine
 * (a full disk, a compiler killed for memory) is an error: it must not count against the commit.
 */
static int run_script(struct job *j, const char *script, const char *const *args,
		      enum build_end fail, struct err *e)
{
	static const char *const killed[] = { "Killed signal terminated", "Cannot allocate memory",
					      "virtual memory exhausted", NULL };
	_cleanup_(freep) char *oom = NULL;
	struct sandbox s = { .script = script,
			     .args = args,
			     .timeout_s = j->timeout_s - since(j->start),
			     .output_limit = j->output_limit,
			     .ccache_size = j->req->ccache_size };
	struct child_result res;
	char end[64];
	int r;

	if (s.timeout_s < 0.001)
		s.timeout_s = 0.001;
	r = sandbox_run(&j->w, &s, &res, e);
	if (r < 0)
		return r;
	strbuf_add(&j->log, res.out, res.out_len);
	if (res.end != CHILD_EXITED || res.status != 0) {
		r = check_space(j, FREE_MIN / 8, e);
		oom = output_find(res.out, killed);
		if (r == 0 && (oom || res.end == CHILD_SIGNALLED))
			r = err_set(e, ERR_NOMEM, "the compiler was killed: %s",
				    oom ? oom : child_end_text(&res, end));
		j->r.end = res.end == CHILD_TIMEOUT ? BUILD_TIMEOUT
			   : res.end == CHILD_FLOOD ? BUILD_FLOOD
						    : fail;
		if (res.end == CHILD_TIMEOUT)
			j->r.detail = xasprintf("not done after %.0f s", j->timeout_s);
		else if (res.end == CHILD_FLOOD)
			j->r.detail = xasprintf("more than %zu bytes of output", j->output_limit);
		else
			j->r.detail = output_reason(res.out);
		r = r < 0 ? r : 1;
	}
	child_result_done(&res);
	return r;
}

static int put_input(const struct job *j, const char *name, const struct strbuf *b, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", j->w.in, name);

	return file_write(path, b->s ? b->s : "", b->len, 0644, e);
}

static int put_inputs(struct job *j, struct err *e)
{
	struct strbuf base = STRBUF_INIT;
	int r = 0;

	if (kconfig_is_file(j->req->kconfig_base))
		r = file_read(j->req->kconfig_base, KCONFIG_MAX, &base, e);
	for (size_t i = 0; r == 0 && i < j->req->n_fragments; i++) {
		r = file_read(j->req->fragments[i], KCONFIG_MAX, &j->fragments, e);
		strbuf_addch(&j->fragments, '\n');
	}
	if (r == 0)
		r = put_input(j, "base", &base, e);
	if (r == 0)
		r = put_input(j, "fragments", &j->fragments, e);
	strbuf_done(&base);
	return r < 0 && e ? err_wrap(e, "kconfig") : r;
}

/* The configuration of this recipe and these Kconfig files is in in/config already? */
static bool config_is_current(struct job *j, const char *recipe)
{
	_cleanup_(freep) char *stamp = xasprintf("%s/config-made", j->w.dir);
	struct strbuf b = STRBUF_INIT;
	char commit[41] = "";
	bool same;

	same = file_read(stamp, 200, &b, NULL) == 0 && b.len == 105 && memcmp(b.s, recipe, 64) == 0;
	if (same)
		memcpy(commit, b.s + 65, 40);
	strbuf_done(&b);
	return same && parse_hash(commit) &&
	       (strcmp(commit, j->req->commit) == 0 ||
		checkout_touches_kconfig(&j->w, commit, j->req->commit, NULL) == 0);
}

static int save_config(struct job *j, const char *recipe, struct err *e)
{
	_cleanup_(freep) char *stamp = xasprintf("%s/config-made", j->w.dir);
	_cleanup_(freep) char *line = xasprintf("%s %s", recipe, j->req->commit);
	struct strbuf config = STRBUF_INIT;
	struct err why = { 0 };
	int r;

	if (collect_read(j->w.oc, ".config", KCONFIG_MAX, &config, &why) < 0) {
		strbuf_done(&config);
		j->r.end = BUILD_KCONFIG;
		j->r.detail = xstrdup(why.msg);
		return 1;
	}
	(void)unlink(stamp);
	r = put_input(j, "config", &config, e);
	if (r == 0)
		r = file_write(stamp, line, strlen(line), 0600, e);
	strbuf_done(&config);
	return r;
}

static int make_config(struct job *j, struct err *e)
{
	/* In a folder of its own: .config of the build is not touched unless its content changes. */
	static const char script[] = "echo 'sandbox up'; set -e; exec 2>&1 </dev/null\n"
				     "base=$1; shift; rm -rf /oc/.config\n"
				     "if [ \"$base\" = - ]; then cp /in/base /oc/.config\n"
				     "else make -s -C /src O=/oc \"$@\" \"$base\"; fi\n"
				     "cat /in/fragments >>/oc/.config\n"
				     "make -s -C /src O=/oc \"$@\" olddefconfig\n";
	const char *args[] = { kconfig_is_file(j->req->kconfig_base) ? "-" : j->req->kconfig_base,
			       j->w.ccache ? "CC=ccache gcc" : "CC=gcc",
			       j->w.ccache ? "HOSTCC=ccache gcc" : "HOSTCC=gcc", NULL };
	char recipe[65];
	int r;

	r = build_kconfig_hash(j->req->kconfig_base, j->req->fragments, j->req->n_fragments, recipe,
			       e);
	if (r == 0)
		r = put_inputs(j, e);
	if (r < 0 || config_is_current(j, recipe))
		return r;
	r = run_script(j, script, args, BUILD_KCONFIG, e);
	return r ? r : save_config(j, recipe, e);
}

static int keep_config(struct job *j, struct err *e)
{
	_cleanup_(freep) char *made = xasprintf("%s/config", j->w.in);
	struct strbuf config = STRBUF_INIT;
	int r = file_read(made, KCONFIG_MAX, &config, e);

	j->r.config = xasprintf("%s/config", j->w.out);
	if (r == 0)
		r = file_write(j->r.config, config.s, config.len, 0600, e);
	if (r == 0)
		kconfig_check_effect(strbuf_str(&config), strbuf_str(&j->fragments), &j->r);
	strbuf_done(&config);
	return r;
}

/*
 * The argument of make for the variant, NULL for none. gcc aligns nothing with -Os, so a kernel that
 * is configured for size is built with -O2: both sides of the comparison are.
 */
static int variant_flags(struct job *j, const char **ret, struct err *e)
{
	static const char *const for_size[] = { "CONFIG_CC_OPTIMIZE_FOR_SIZE=y", NULL };
	_cleanup_(freep) char *path = xasprintf("%s/config", j->w.in);
	_cleanup_(freep) char *line = NULL;
	struct strbuf config = STRBUF_INIT;
	int r;

	*ret = NULL;
	if (!is_aligned(j->req))
		return 0;
	r = file_read(path, KCONFIG_MAX, &config, e);
	if (r == 0) {
		line = output_find(strbuf_str(&config), for_size);
		*ret = line ? "KCFLAGS=-O2 " ALIGNED : "KCFLAGS=" ALIGNED;
		strbuf_addf(&j->log, "*** variant %s: %s\n", j->req->variant, *ret);
	}
	strbuf_done(&config);
	return r;
}

static int make_image(struct job *j, struct err *e)
{
	/*
	 * A make that was killed may have left half a file that looks up to date; all that it
	 * wrote is newer than the marker. A compiler that does not heed the flags would make the
	 * variant an ordinary kernel, and prove nothing. Cold functions and labels are not aligned, so
	 * two fifths have to be; 1/4 are by chance with the usual 16 bytes.
	 */
	static const char script[] =
		"echo 'sandbox up'; set -e; exec 2>&1 </dev/null\n"
		"stale=$1 image=$2 aligned=$3; shift 3\n"
		"[ $stale = 0 ] || find /o -type f -newer /in/building -delete\n"
		"cmp -s /in/config /o/.config || cp --remove-destination /in/config /o/.config\n"
		"rm -rf \"/o/$image\"\n"
		"make -s -C /src O=/o \"$@\"\n"
		"[ $aligned = 0 ] || nm /o/vmlinux | awk '$2 == \"T\" || $2 == \"t\" { n++;"
		" if ($1 ~ /[048c]0$/) a++ } END { print \"functions at a multiple of 64:\", a + 0,"
		" \"of\", n + 0; if (n >= 50 && a < n * 2 / 5) { print \"error: functions are not aligned,\","
		" a + 0, \"of\", n; exit 1 } }'\n";
	_cleanup_(freep) char *marker = xasprintf("%s/building", j->w.in);
	_cleanup_(freep) char *jobs = NULL;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool stale = access(marker, F_OK) == 0;
	const char *args[] = { stale ? "1" : "0",
			       j->image,
			       is_aligned(j->req) ? "1" : "0",
			       NULL,
			       j->w.ccache ? "CC=ccache gcc" : "CC=gcc",
			       j->w.ccache ? "HOSTCC=ccache gcc" : "HOSTCC=gcc",
			       j->target,
			       NULL,
			       NULL };
	int r;

	jobs = xasprintf("-j%u", j->req->jobs ? j->req->jobs : cpus > 0 ? (unsigned int)cpus : 1);
	args[3] = jobs;
	r = variant_flags(j, &args[7], e);
	if (r == 0 && !stale)
		r = file_write(marker, "", 0, 0644, e);
	if (r == 0)
		r = run_script(j, script, args, BUILD_FAILED, e);
	if (r == 0 || (r == 1 && j->r.end == BUILD_FAILED))
		(void)unlink(marker);
	return r;
}

static int keep_list(struct job *j, const char *name, const struct strbuf *list, char **ret)
{
	_cleanup_(freep) char *to = xasprintf("%s/%s", j->w.out, name);
	struct err why = { 0 };
	int r = file_write(to, strbuf_str(list), list->len, 0600, &why);

	if (r < 0)
		strbuf_addf(&j->log, "*** no list of %s: %s\n", name, why.msg);
	else
		*ret = take_ptr(to);
	return r;
}

/* Good to have; a build without them is as good. */
static void keep_lists(struct job *j)
{
	struct strbuf objects = STRBUF_INIT;
	struct strbuf deps = STRBUF_INIT;
	struct err why = { 0 };

	if (objects_list(&j->w, &objects, &deps, &why) < 0)
		strbuf_addf(&j->log, "*** no lists of objects and sources: %s\n", why.msg);
	else if (keep_list(j, "objects", &objects, &j->r.objects) == 0)
		(void)keep_list(j, "deps", &deps, &j->r.deps);
	strbuf_done(&objects);
	strbuf_done(&deps);
}

static int collect(struct job *j, struct err *e)
{
	struct strbuf release = STRBUF_INIT;
	_cleanup_(freep) char *to = xasprintf("%s/image", j->w.out);
	struct err why = { 0 };
	int r;

	r = collect_copy(j->w.o, j->image, IMAGE_MAX, to, &why);
	if (r == ERR_IO || r == ERR_NOSPACE) {
		if (e)
			*e = why;
		return r;
	}
	if (r == 0)
		r = collect_build_id(j->w.o, "vmlinux", j->r.build_id, &why);
	if (r < 0) {
		j->r.end = BUILD_NO_IMAGE;
		j->r.detail = output_line(why.msg, strlen(why.msg));
		j->r.build_id[0] = '\0';
		(void)unlink(to);
		return 0;
	}
	j->r.image = take_ptr(to);
	keep_lists(j);
	if (collect_read(j->w.o, "include/config/kernel.release", 128, &release, NULL) == 0) {
		size_t n = strcspn(strbuf_str(&release), "\n");
		_cleanup_(freep) char *line = output_line(strbuf_str(&release), n);

		(void)snprintf(j->r.kernel_release, sizeof(j->r.kernel_release), "%s", line);
	}
	strbuf_done(&release);
	return 0;
}

/* What only one attempt has said. */
static void forget_end(struct job *j)
{
	free(j->r.detail);
	free(j->r.config);
	free(j->r.objects);
	free(j->r.deps);
	for (size_t i = 0; i < j->r.n_warnings; i++)
		free(j->r.warnings[i]);
	free(j->r.warnings);
	j->r = (struct build_result){ .checkout_s = j->r.checkout_s };
	strbuf_reset(&j->fragments);
}

static int attempt(struct job *j, struct err *e)
{
	int r = make_config(j, e);

	if (r == 0)
		r = keep_config(j, e);
	if (r == 0)
		r = make_image(j, e);
	if (r == 0)
		r = collect(j, e);
	return r < 0 ? r : 0;
}

/*
 * May what an earlier commit left in O= be the reason? Not when the compiler complained of the
 * source: that is the common case, and a build from nothing takes long.
 */
static bool leftovers_suspect(const struct job *j)
{
	if (j->r.end == BUILD_FAILED)
		return !output_blames_source(j->r.detail);
	return j->r.end == BUILD_KCONFIG || j->r.end == BUILD_NO_IMAGE;
}

static int build_steps(struct job *j, struct err *e)
{
	_cleanup_(freep) char *used = xasprintf("%s/used", j->w.dir);
	bool fresh = access(used, F_OK) < 0;
	usec_t t = clock_boottime();
	int r;

	r = check_space(j, FREE_MIN, e);
	if (r == 0)
		r = checkout_run(&j->w, j->req->mirror, j->req->commit, e);
	if (r == 0)
		r = file_write(used, "", 0, 0600, e);
	if (r < 0)
		return r;
	j->r.checkout_s = since(t);
	j->start = clock_boottime();
	r = attempt(j, e);
	if (r < 0 || fresh || !leftovers_suspect(j))
		return r;
	strbuf_addstr(&j->log, "\n*** again, from an empty build folder\n");
	forget_end(j);
	r = workdir_empty(&j->w, e);
	return r < 0 ? r : attempt(j, e);
}

int build_run(const struct build_request *req, struct build_result *ret, struct err *e)
{
	struct job j = { .req = req,
			 .target = req->target ? req->target : "bzImage",
			 .image = req->image ? req->image : "arch/x86/boot/bzImage",
			 .timeout_s = req->timeout_s > 0 ? req->timeout_s : TIMEOUT_S,
			 .output_limit = req->output_limit ? req->output_limit : OUTPUT_LIMIT };
	usec_t start = clock_boottime();
	int r = check_request(&j, e);

	if (r < 0)
		return r;
	r = workdir_init(req, &j.w, e);
	if (r == 0)
		r = build_steps(&j, e);
	if (r == 0) {
		j.r.log = req->log_path ? xstrdup(req->log_path) : xasprintf("%s/log", j.w.out);
		r = file_write(j.r.log, strbuf_str(&j.log), j.log.len, 0600, e);
	}
	j.r.took_s = since(start);
	if (r == 0)
		*ret = j.r;
	else
		build_result_done(&j.r);
	strbuf_done(&j.log);
	strbuf_done(&j.fragments);
	workdir_done(&j.w);
	return r;
}
