/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of build.h only. */
#pragma once

#include "bot/base/strbuf.h"
#include "bot/base/vec.h"
#include "bot/build/build.h"

#include <stdbool.h>

struct child_result;
struct err;

/*
 * The work folder: src (the source, only read by builds), git and index (ours), o and oc (O= of the
 * build and of its configuration, written by hostile code), in (our input to the sandbox),
 * out/COMMIT (what was collected).
 */
struct workdir {
	char *dir, *src, *git, *index, *o, *oc, *in, *out, *ccache;
	bool root;
	uid_t uid;
	gid_t gid;
	int lock_fd;
};

int workdir_init(const struct build_request *req, struct workdir *w, struct err *e);
void workdir_done(struct workdir *w);

/** workdir_empty() - forget what builds have left, so that the next one starts from nothing. */
int workdir_empty(const struct workdir *w, struct err *e);

/** checkout_run() - bring @w->src to the commit, touching only the files that differ. */
int checkout_run(const struct workdir *w, const char *mirror, const char *commit, struct err *e);

/**
 * checkout_touches_kconfig() - do two commits differ in a file that configuration may read?
 * Return: 1, 0 or ERR_*.
 */
int checkout_touches_kconfig(const struct workdir *w, const char *from, const char *to,
			     struct err *e);

/** output_line() - one printable ASCII line from hostile output, without the sandbox's paths. */
char *output_line(const char *line, size_t len);

/** output_find() - the first line that has one of the NULL-terminated @words, or NULL. */
char *output_find(const char *log, const char *const *words);

/** output_blames_source() - is this a compiler's complaint about a place in a file? */
bool output_blames_source(const char *line);

/** output_reason() - the line that says best why make failed. */
char *output_reason(const char *log);

/**
 * struct sandbox - one command in bubblewrap.
 * @script: a sh script; sees /src (ro), /in (ro), /o and /oc (rw), /ccache (rw), /tmp.
 * @args: NULL-terminated, "$@" of the script.
 */
struct sandbox {
	const char *script;
	const char *const *args;
	double timeout_s;
	size_t output_limit;
	const char *ccache_size;
};

/**
 * sandbox_run() - run it as @w's user, without network, home, or a way to write the source.
 * @ret: output without our own start line. ERR_CHILD if the sandbox itself did not start.
 */
int sandbox_run(const struct workdir *w, const struct sandbox *s, struct child_result *ret,
		struct err *e);

/** collect_open() - a regular file below @dir, no link on the way, at most @max bytes; or ERR_*. */
int collect_open(const char *dir, const char *path, size_t max, size_t *ret_size, struct err *e);

/** collect_copy() - the same, copied to @to. */
int collect_copy(const char *dir, const char *path, size_t max, const char *to, struct err *e);

/** collect_read() - the same, appended to @ret. */
int collect_read(const char *dir, const char *path, size_t max, struct strbuf *ret, struct err *e);

/** collect_build_id() - of the ELF file at @path below @dir. */
int collect_build_id(const char *dir, const char *path, char ret[129], struct err *e);

/**
 * objects_list() - what @w->o has been built into and from, as build.h has it.
 * @objects, @deps: appended to.
 * Return: 0; ERR_TOO_BIG, ERR_IO, ERR_NOENT (there is nothing): the lists are of no use.
 */
int objects_list(const struct workdir *w, struct strbuf *objects, struct strbuf *deps,
		 struct err *e);

/** deps_path() - the source that a word of a .cmd file of @folder names, free() it; NULL: none. */
char *deps_path(const char *folder, const char *word, size_t len);

#define KCONFIG_MAX (16 << 20)

/** kconfig_is_file() - is this base a path, and not a make target? */
bool kconfig_is_file(const char *base);

/** kconfig_check_base() - ERR_INVAL unless it is a path or like "tinyconfig". */
int kconfig_check_base(const char *base, struct err *e);

/** kconfig_check_effect() - a warning for each line of @fragment that @config does not have. */
void kconfig_check_effect(const char *config, const char *fragment, struct build_result *r);
