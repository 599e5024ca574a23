/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Build one commit. The tree is hostile: it is made inside bubblewrap, and what comes out is read
 * as data. Blocks until done; meant for a worker process.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct err;

/**
 * struct build_request - what to build and where; all borrowed.
 * @mirror: folder of the bare repository that has the commit; only read.
 * @commit: full hash.
 * @kconfig_base: a make target ("tinyconfig", "defconfig"), or the path of a file when it has a '/'.
 * @fragments: paths of files that are merged over the base, in order; @n_fragments of them.
 * @variant: "" or NULL: as the tree builds itself; "align64": every function begins at a multiple of
 *	64 bytes, so that a commit which changes the size of code does not move other code about. It
 *	fails when most functions are somewhere else, and is built with -O2 where the configuration
 *	says -Os, as gcc aligns nothing then.
 *	Part of the build's key in the database. Each has a @work_dir of its own: not every makefile
 *	sees that flags have changed.
 * @target: make target; NULL is "bzImage".
 * @image: where the image is below O=; NULL is "arch/x86/boot/bzImage".
 * @work_dir: this builder's own folder, reused: source tree, index, O=. Made when missing. Builds
 *	of trees that do not trust each other must not share it, nor @ccache_dir.
 * @jobs: parallel make jobs; 0 is the number of processors.
 * @timeout_s: for kconfig and make together; 0 is two hours.
 * @output_limit: bytes that make may write before it is killed; 0 is 64 MiB.
 * @ccache_dir, @ccache_size: compile cache and its size ("5G"); NULL dir: none, NULL size: "5G".
 * @log_path: where the log goes; NULL is WORK_DIR/out/COMMIT/log.
 * @uid, @gid: user in the sandbox when we are root; 0 is 65534. Else it is our own user.
 */
struct build_request {
	const char *mirror;
	const char *commit;
	const char *kconfig_base;
	const char *const *fragments;
	size_t n_fragments;
	const char *variant;
	const char *target;
	const char *image;
	const char *work_dir;
	unsigned int jobs;
	double timeout_s;
	size_t output_limit;
	const char *ccache_dir;
	const char *ccache_size;
	const char *log_path;
	uid_t uid;
	gid_t gid;
};

/**
 * enum build_end - FAILED: make said so. NO_IMAGE: make was content, but the image or its build id
 * is not there, or is no regular file. KCONFIG: the commit could not make its configuration.
 */
enum build_end {
	BUILD_OK,
	BUILD_FAILED,
	BUILD_TIMEOUT,
	BUILD_FLOOD,
	BUILD_NO_IMAGE,
	BUILD_KCONFIG
};

/**
 * struct build_result - how it ended; build_result_done() frees it.
 * @detail: one line of printable ASCII, e.g. "mm/x.c:12:3: error: …"; NULL when OK.
 * @image, @config: copies in WORK_DIR/out/COMMIT, valid for an hour or until the next build of the
 *	same commit there; NULL unless OK (@config is there as soon as the configuration was made).
 * @log: path of the whole output of kconfig and make.
 * @objects: path of a list of object files, "PATH HASH" sorted by path. The hash is of what gets into
 *	the running kernel: builds with equal lists do the same, see elf_code(). NULL unless OK, and
 *	when it could not be made.
 * @deps: path of a list of the sources and headers that went in, sorted; may have some that an
 *	earlier build in this folder needed. NULL as @objects.
 * @build_id: GNU build id of vmlinux, lower-case hex; "" unless OK.
 * @kernel_release: as `uname -r` will say it; "" if unknown.
 * @took_s: seconds in all. @checkout_s: of them for the source.
 * @warnings: symbols of fragments that did not take effect, one sentence each.
 */
struct build_result {
	enum build_end end;
	char *detail;
	char *image;
	char *config;
	char *log;
	char *objects;
	char *deps;
	char build_id[129];
	char kernel_release[129];
	double took_s;
	double checkout_s;
	char **warnings;
	size_t n_warnings;
};

/**
 * build_run() - build one commit.
 * @ret: filled on success.
 *
 * A failure that leftovers of earlier commits could explain is tried once more from nothing.
 * Return: 0 however the build ended. Negative is never the commit's fault: ERR_NOENT (commit not in
 * the mirror, kconfig file missing), ERR_INVAL (request), ERR_CONFLICT (work folder in use),
 * ERR_NOSPACE, ERR_NOMEM (the compiler was killed), ERR_CHILD (sandbox or git do not work), ERR_IO.
 */
int build_run(const struct build_request *req, struct build_result *ret, struct err *e);
void build_result_done(struct build_result *r);

/** build_end_name() - "ok", "failed", "timeout", "flood", "no-image", "kconfig". */
const char *build_end_name(enum build_end end);

/**
 * build_kconfig_hash() - SHA-256 of a kconfig recipe: the base's name or content and the content
 * of the fragments, in order. Paths do not count.
 * Return: 0; ERR_NOENT for a file that is not there; ERR_INVAL for a base that is neither a file
 * nor a config target.
 */
int build_kconfig_hash(const char *base, const char *const *fragments, size_t n, char ret[65],
		       struct err *e);

/** build_compiler() - first line of `gcc --version`, the third part of a build's key; free() it. */
int build_compiler(char **ret, struct err *e);
