/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where programs are, and which ones a run has used. */
#pragma once

#include "runners/proto/message.h"

/**
 * struct programs - what is known of programs. Caller-owned; zero but for @workloads.
 * @workloads: path of the multi-call program; borrowed.
 * @applets: names that it goes by; read when first needed; owned.
 * @seen: hashes of files, as long as they stay the same; owned.
 * @used: array for struct proto_run_end.
 */
struct programs {
	const char *workloads;
	char **applets;
	struct programs_hash *seen;
	size_t nseen;
	json_t *used;
};

/**
 * programs_find() - which file is the program @name?
 * @dir: absolute; where a name with a slash starts from.
 * @job: its path comes first, then the bundled workloads, then PATH of its env or of ours.
 * @ret_path: to be freed. @ret_applet: it wants its own path, and then @name, as arguments.
 *
 * Workloads that do not tell their names are taken to have all that is nowhere else.
 * Return: 0; ERR_NOENT, ERR_PERM.
 */
int programs_find(struct programs *p, const struct proto_job *job, const char *dir,
		  const char *name, char **ret_path, bool *ret_applet, struct err *e);

/** programs_search() - @name in the job's path or in PATH; to be freed; NULL if it is nowhere. */
char *programs_search(const struct proto_job *job, const char *name);

/** programs_use() - note that the run executes the file @path as @name; hashes it. */
void programs_use(struct programs *p, const char *name, const char *path);

/** programs_take() - what was used since the last call; the caller's. */
json_t *programs_take(struct programs *p);

void programs_done(struct programs *p);
