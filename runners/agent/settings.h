/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine's set-up for a job: written, read back, and put back again afterwards. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct err;

/** SETTINGS_RESTORE_FILE - what is to be put back, for the agent that comes after one that was killed. */
#define SETTINGS_RESTORE_FILE "/run/kperfbot-agent.restore"

/** struct settings_saved - a file of /proc or /sys and what it said before; owned. */
struct settings_saved {
	char *path, *value;
};

/**
 * struct settings - what was changed. Caller-owned; settings_init() before use.
 * @may_change: the machine is ours to change.
 * @restores: it runs on after us, so what was changed is put back.
 * @lock: the restore file, locked as long as settings are changed; -1 without.
 * @saved: in the order of the changes.
 * @no_thp: huge pages are to be switched off for the job's programs alone.
 */
struct settings {
	bool may_change, restores, no_thp;
	const char *restore_file;
	int lock;
	struct settings_saved *saved;
	size_t nsaved;
};

/** settings_init() - nothing is changed. @restore_file: borrowed. */
void settings_init(struct settings *s, bool may_change, bool restores, const char *restore_file);

/**
 * settings_apply() - bring all of @wanted into force; see struct proto_job.
 * @ret: object: each as it was read back; filled also on failure, as far as it came.
 *
 * Where the machine is not ours to change, what already is as wanted is as good.
 * Return: 0; ERR_UNSUPPORTED, ERR_PERM, ERR_IO and the like with the setting and the reason. What
 * was changed before that stays for settings_restore().
 */
int settings_apply(struct settings *s, json_t *wanted, json_t *ret, struct err *e);

/** settings_restore() - put back what was changed, the last first. Return: 0; ERR_IO for the first. */
int settings_restore(struct settings *s, struct err *e);

/**
 * settings_rescue() - put back what an agent that was killed has left changed.
 * Nothing is done while another agent lives that has changed settings.
 * Return: how many were put back.
 */
unsigned settings_rescue(const char *restore_file);

void settings_done(struct settings *s);
