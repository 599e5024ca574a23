/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/settings.h"

#include "bot/base/err.h"
#include "runners/agent/facts.h"
#include "runners/agent/numbered.h"
#include "runners/agent/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CPU_DIR	 "/sys/devices/system/cpu"
#define THP_FILE "/sys/kernel/mm/transparent_hugepage/enabled"

void settings_init(struct settings *s, bool may_change, bool restores, const char *restore_file)
{
	*s = (struct settings){ .may_change = may_change,
				.restores = restores,
				.restore_file = restore_file,
				.lock = -1 };
}

/* What a file says: its word in brackets if it has one, else its first line with single blanks. */
static char *value_read(const char *path)
{
	char *chosen = facts_read_chosen(path);
	_cleanup_(freep) char *line = chosen ? NULL : facts_read_line(path);
	struct strbuf b = STRBUF_INIT;
	char *save = NULL;

	if (chosen || !line)
		return chosen;
	/* facts_read_line() made a '?' of each tab. */
	for (char *w = strtok_r(line, " ?", &save); w; w = strtok_r(NULL, " ?", &save))
		strbuf_addf(&b, "%s%s", b.len ? " " : "", w);
	return strbuf_take(&b);
}

static char *blanks_single(const char *value)
{
	_cleanup_(freep) char *copy = xstrdup(value);
	struct strbuf b = STRBUF_INIT;
	char *save = NULL;

	for (char *w = strtok_r(copy, " \t", &save); w; w = strtok_r(NULL, " \t", &save))
		strbuf_addf(&b, "%s%s", b.len ? " " : "", w);
	return strbuf_take(&b);
}

/* Remembered on disk before it is done: whoever comes after us can put it back. */
static int save(struct settings *s, const char *path, const char *value, struct err *e)
{
	int r;

	if (!s->restores)
		return 0;
	if (s->lock < 0) {
		r = restore_open(s->restore_file, &s->lock, e);
		if (r < 0)
			return r;
	}
	r = restore_add(s->lock, path, value, e);
	if (r < 0)
		return r;
	s->saved = xreallocarray(s->saved, s->nsaved + 1, sizeof(*s->saved));
	s->saved[s->nsaved++] = (struct settings_saved){ xstrdup(path), xstrdup(value) };
	return 0;
}

/*
 * Makes the file @path say @want, called @name in reasons. @as: what it says instead when it is in
 * force in other words, or NULL.
 */
static int file_set(struct settings *s, const char *name, const char *path, const char *want,
		    const char *as, struct err *e)
{
	_cleanup_(freep) char *now = value_read(path);
	_cleanup_(freep) char *wanted = blanks_single(want);
	int r;

	if (!now)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s '%.100s' is asked, but '%.200s' cannot be read", name, want,
			       path);
	if (!strcmp(now, wanted) || (as && !strcmp(now, as)))
		return 0;
	if (!s->may_change)
		return err_set(e, ERR_PERM,
			       "%s '%.100s' is asked, but this machine has '%.100s' and is not "
			       "ours to change",
			       name, want, now);
	r = save(s, path, now, e);
	if (r < 0)
		return r;
	r = restore_write(path, want, e);
	if (r < 0)
		return err_wrap(e, "cannot set %s '%.100s'", name, want);
	free(now);
	now = value_read(path);
	if (now && (!strcmp(now, wanted) || (as && !strcmp(now, as))))
		return 0;
	return err_set(e, ERR_IO, "%s '%.100s' did not take: '%.200s' says '%.100s'", name, want,
		       path, now ? now : "");
}

static int set_thp(struct settings *s, const char *want, struct err *e)
{
	_cleanup_(freep) char *now = facts_thp();

	/* A kernel without THP is as good as "never". */
	if (!now && !strcmp(want, "never"))
		return 0;
	if (!now)
		return err_set(e, ERR_UNSUPPORTED,
			       "thp '%.20s' is asked, but this kernel has no huge pages", want);
	if (!s->may_change && strcmp(now, "never") != 0 && !strcmp(want, "never")) {
		s->no_thp = true;
		return 0;
	}
	return file_set(s, "thp", THP_FILE, want, NULL, e);
}

/* All files that match, as one setting; at least one has to. */
static int set_all(struct settings *s, const char *name, const char *pattern, const char *want,
		   struct err *e)
{
	char **paths;
	size_t n = numbered_paths(pattern, &paths);
	int r = 0;

	if (n == 0)
		r = err_set(e, ERR_UNSUPPORTED,
			    "%s '%.40s' is asked, but this machine cannot switch it (no '%s')",
			    name, want, pattern);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = file_set(s, name, paths[i], want, NULL, e);
	numbered_free(paths);
	return r;
}

static int set_governor(struct settings *s, const char *want, struct err *e)
{
	return set_all(s, "governor", CPU_DIR "/cpu*/cpufreq/scaling_governor", want, e);
}

static int set_smt(struct settings *s, const char *want, struct err *e)
{
	static const char path[] = CPU_DIR "/smt/control";
	_cleanup_(freep) char *now = facts_read_line(path);
	bool off = !strcmp(want, "off");

	/* Without siblings it is off. */
	if (off && (!now || !strcmp(now, "notsupported") || !strcmp(now, "notimplemented")))
		return 0;
	return file_set(s, "smt", path, want, off ? "forceoff" : NULL, e);
}

static int set_turbo(struct settings *s, const char *want, struct err *e)
{
	bool on = !strcmp(want, "on");

	if (access(CPU_DIR "/intel_pstate/no_turbo", F_OK) == 0)
		return file_set(s, "turbo", CPU_DIR "/intel_pstate/no_turbo", on ? "0" : "1", NULL,
				e);
	if (access(CPU_DIR "/cpufreq/boost", F_OK) == 0)
		return file_set(s, "turbo", CPU_DIR "/cpufreq/boost", on ? "1" : "0", NULL, e);
	return set_all(s, "turbo", CPU_DIR "/cpu*/cpufreq/boost", on ? "1" : "0", e);
}

static int set_sysctl(struct settings *s, const char *name, const char *want, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("/proc/sys/%s", name);

	if (!*name || strstr(name, "..") || strchr(name, '/'))
		return err_set(e, ERR_INVAL, "'%.100s' is no name of a sysctl", name);
	for (char *p = path + strlen("/proc/sys/"); *p; p++) {
		if (*p == '.')
			*p = '/';
	}
	return file_set(s, name, path, want, NULL, e);
}

/* SMT first: it decides which CPUs have a governor. */
static const struct {
	const char *name;
	int (*set)(struct settings *s, const char *want, struct err *e);
} plain[] = {
	{ "smt", set_smt },
	{ "governor", set_governor },
	{ "turbo", set_turbo },
	{ "thp", set_thp },
};

static bool is_known(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (!strcmp(plain[i].name, key))
			return true;
	}
	return !strncmp(key, "sysctl.", 7);
}

int settings_apply(struct settings *s, json_t *wanted, json_t *ret, struct err *e)
{
	const char *key;
	json_t *v;
	int r;

	json_object_foreach (wanted, key, v) {
		if (!is_known(key))
			return err_set(e, ERR_UNSUPPORTED, "no setting '%.80s' is known here", key);
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		v = json_object_get(wanted, plain[i].name);
		if (!v)
			continue;
		r = plain[i].set(s, json_string_value(v), e);
		if (r < 0)
			return r;
		(void)json_object_set(ret, plain[i].name, v);
	}
	json_object_foreach (wanted, key, v) {
		if (strncmp(key, "sysctl.", 7) != 0)
			continue;
		r = set_sysctl(s, key + 7, json_string_value(v), e);
		if (r < 0)
			return r;
		(void)json_object_set(ret, key, v);
	}
	return 0;
}

int settings_restore(struct settings *s, struct err *e)
{
	int r = 0;

	while (s->nsaved) {
		struct settings_saved *v = &s->saved[--s->nsaved];

		if (r == 0)
			r = restore_write(v->path, v->value, e);
		else
			(void)restore_write(v->path, v->value, NULL);
		free(v->path);
		free(v->value);
	}
	if (s->lock >= 0)
		restore_close(s->restore_file, s->lock);
	s->lock = -1;
	return r;
}

void settings_done(struct settings *s)
{
	for (size_t i = 0; i < s->nsaved; i++) {
		free(s->saved[i].path);
		free(s->saved[i].value);
	}
	free(s->saved);
	closep(&s->lock);
	*s = (struct settings){ .lock = -1 };
}
