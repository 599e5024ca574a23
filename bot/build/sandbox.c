/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/build/build_priv.h"

#include <string.h>

#define TMP_BYTES  "2147483648"
#define FILE_BYTES "8589934592"
#define PROCESSES  "4096"
#define START_LINE "sandbox up\n"

struct cmd {
	VEC(const char *) v;
	VEC(char *) owned;
};

static void add_list(struct cmd *c, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&c->v, words[i]);
}

#define add(c, ...)                                       \
	add_list(c, (const char *const[]){ __VA_ARGS__ }, \
		 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* Our folders and where the build sees them. */
struct mount {
	const char *from, *name;
	bool write;
};

static void add_mounts(struct cmd *c, const struct mount *mounts, const char *from_prefix,
		       const char *to_prefix)
{
	for (const struct mount *m = mounts; m->name; m++) {
		char *to = xasprintf("%s/%s", to_prefix, m->name);
		char *from = from_prefix ? xasprintf("%s/%s", from_prefix, m->name) : NULL;

		vec_push(&c->owned, to);
		if (from)
			vec_push(&c->owned, from);
		add(c, m->write ? "--bind" : "--ro-bind", from ? from : m->from, to);
	}
}

/*
 * As root: an outer namespace puts our folders where the unprivileged user can reach them (the path
 * of the state folder is closed to it), and changes to that user for good. The sandbox proper then
 * has no more rights than anybody's. A PID namespace here too: the kernel does not let a dying parent
 * kill a child of another user, but it does end all of a namespace with its first process.
 */
static void add_change_user(struct cmd *c, const struct workdir *w, const struct mount *mounts)
{
	char *uid = xasprintf("--reuid=%u", w->uid);
	char *gid = xasprintf("--regid=%u", w->gid);

	vec_push(&c->owned, uid);
	vec_push(&c->owned, gid);
	add(c, "bwrap", "--unshare-pid", "--die-with-parent", "--dev-bind", "/", "/");
	add(c, "--tmpfs", "/mnt");
	add_mounts(c, mounts, NULL, "/mnt");
	add(c, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--");
	add(c, "setpriv", uid, gid, "--clear-groups", "--bounding-set=-all", "--");
}

/*
 * Equal source must give an equal image, on every host, in every folder, at every time. The paths
 * /src and /o are the same in all sandboxes, so that ccache hits across work folders.
 */
static void add_env(struct cmd *c, const struct workdir *w, const struct sandbox *s)
{
	add(c, "--setenv", "PATH", "/usr/bin:/usr/sbin", "--setenv", "HOME", "/tmp");
	add(c, "--setenv", "LC_ALL", "C", "--setenv", "TZ", "UTC");
	add(c, "--setenv", "KBUILD_BUILD_TIMESTAMP", "Thu Jan  1 00:00:00 UTC 1970");
	add(c, "--setenv", "KBUILD_BUILD_USER", "kperfbot");
	add(c, "--setenv", "KBUILD_BUILD_HOST", "kperfbot");
	add(c, "--setenv", "KBUILD_BUILD_VERSION", "1");
	add(c, "--setenv", "SOURCE_DATE_EPOCH", "0");
	if (!w->ccache)
		return;
	add(c, "--setenv", "CCACHE_DIR", "/ccache");
	add(c, "--setenv", "CCACHE_MAXSIZE", s->ccache_size ? s->ccache_size : "5G");
}

static void make_cmd(const struct workdir *w, const struct sandbox *s, struct cmd *c)
{
	const struct mount mounts[] = { { w->src, "src", false },
					{ w->in, "in", false },
					{ w->o, "o", true },
					{ w->oc, "oc", true },
					{ w->ccache, w->ccache ? "ccache" : NULL, true },
					{ 0 } };

	if (w->root)
		add_change_user(c, w, mounts);
	add(c, "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent");
	add(c, "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "build");
	add(c, "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin");
	add(c, "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib");
	add(c, "--symlink", "usr/lib64", "/lib64");
	add(c, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
	add(c, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache");
	add(c, "--proc", "/proc", "--dev", "/dev", "--size", TMP_BYTES, "--tmpfs", "/tmp");
	add_mounts(c, mounts, w->root ? "/mnt" : NULL, "");
	add_env(c, w, s);
	/* Nothing can be written but what is listed above. */
	add(c, "--remount-ro", "/", "--chdir", "/o", "--");
	add(c, "prlimit", "--core=0", "--nproc=" PROCESSES, "--fsize=" FILE_BYTES, "--");
	add(c, "sh", "-c", s->script, "sh");
	for (const char *const *a = s->args; *a; a++)
		add(c, *a);
	vec_push(&c->v, NULL);
}

static void cmd_done(struct cmd *c)
{
	vec_foreach (s, &c->owned)
		free(*s);
	vec_done(&c->owned);
	vec_done(&c->v);
}

int sandbox_run(const struct workdir *w, const struct sandbox *s, struct child_result *ret,
		struct err *e)
{
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT,
				       .total_s = s->timeout_s,
				       .max_output = s->output_limit + 65536,
				       .kill_over_output = s->output_limit };
	static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	size_t skip = strlen(START_LINE);
	struct cmd c = { 0 };
	int r;

	make_cmd(w, s, &c);
	opts.spawn.argv = c.v.items;
	opts.spawn.env = env;
	opts.spawn.cwd = "/";
	r = child_run(&opts, ret, e);
	cmd_done(&c);
	if (r < 0)
		return r;
	/* The script's first act; without it what we see is bubblewrap's own trouble. */
	if (ret->out_len < skip || memcmp(ret->out, START_LINE, skip) != 0) {
		r = err_set(e, ERR_CHILD, "the build sandbox did not start: %.300s",
			    ret->out_len ? ret->out : "no output");
		child_result_done(ret);
		return r;
	}
	ret->out_len -= skip;
	memmove(ret->out, ret->out + skip, ret->out_len + 1);
	return 0;
}
