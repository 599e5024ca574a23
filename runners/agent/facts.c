/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/facts.h"

#include "bot/base/err.h"
#include "runners/proto/build_id.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define LINE_MAX_BYTES 4096
#define CPUS_MAX       8192

static ssize_t read_some(const char *path, void *buf, size_t size)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	if (fd < 0)
		return -1;
	while (have < size) {
		ssize_t n = read(fd, (char *)buf + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

char *facts_read_line(const char *path)
{
	char buf[LINE_MAX_BYTES];
	ssize_t n = read_some(path, buf, sizeof(buf) - 1);
	char *end;

	if (n <= 0)
		return NULL;
	buf[n] = '\0';
	end = strchr(buf, '\n');
	if (end)
		*end = '\0';
	for (char *p = buf; *p; p++) {
		if (*p < ' ' || *p > '~')
			*p = '?';
	}
	return *buf ? xstrdup(buf) : NULL;
}

char *facts_read_field(const char *path, const char *key)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	size_t size = 0, len = strlen(key);

	while (f && getline(&line, &size, f) > 0) {
		char *p;

		if (strncmp(line, key, len) != 0)
			continue;
		p = line + len;
		p += strspn(p, " \t");
		if (*p++ != ':')
			continue;
		p += strspn(p, " \t");
		p[strcspn(p, "\n")] = '\0';
		return *p ? xstrdup(p) : NULL;
	}
	return NULL;
}

static uint64_t read_meminfo(const char *key)
{
	_cleanup_(freep) char *v = facts_read_field("/proc/meminfo", key);

	return v ? strtoull(v, NULL, 10) * 1024 : 0;
}

char *facts_read_chosen(const char *path)
{
	_cleanup_(freep) char *line = facts_read_line(path);
	char *open = line ? strchr(line, '[') : NULL;
	char *close = open ? strchr(open, ']') : NULL;

	return close ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

char *facts_thp(void)
{
	return facts_read_chosen("/sys/kernel/mm/transparent_hugepage/enabled");
}

int facts_cpus(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int n = 0;

	if (set && sched_getaffinity(0, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n > 0 ? n : 1;
}

int facts_list_count(const char *path)
{
	_cleanup_(freep) char *line = facts_read_line(path);
	const char *p = line;
	int n = 0;

	while (p && *p) {
		char *end;
		long from = strtol(p, &end, 10), to = from;

		if (end == p)
			break;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (to < from || to > 1 << 20)
			break;
		n += (int)(to - from) + 1;
		p = *end == ',' ? end + 1 : NULL;
	}
	return n;
}

/*
 * Where a benchmark's files live changes what it measures. The mount with the longest path that leads
 * to @path counts, the last of them if there are many.
 */
static char *fs_name(const char *path)
{
	_cleanup_(freep) char *real = realpath(path, NULL);
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/mounts", "re");
	_cleanup_(freep) char *line = NULL;
	size_t size = 0, best = 0;
	char *type = NULL;

	while (real && f && getline(&line, &size, f) > 0) {
		char *save = NULL, *at, *kind;
		size_t n;

		if (!strtok_r(line, " ", &save))
			continue;
		at = strtok_r(NULL, " ", &save);
		kind = at ? strtok_r(NULL, " ", &save) : NULL;
		if (!kind)
			continue;
		n = strcmp(at, "/") ? strlen(at) : 0;
		if (n < best || strncmp(real, at, n) != 0 || (real[n] && real[n] != '/'))
			continue;
		best = n;
		free(type);
		type = xstrdup(kind);
	}
	return type;
}

static void add_fs(json_t *facts, const char *key, const char *path)
{
	_cleanup_(freep) char *type = fs_name(path);

	if (type)
		(void)json_object_set_new(facts, key, json_string(type));
}

static void add_line(json_t *facts, const char *key, const char *path)
{
	_cleanup_(freep) char *line = facts_read_line(path);

	if (line)
		(void)json_object_set_new(facts, key, json_string(line));
}

char *facts_cmdline(const char *line)
{
	_cleanup_(freep) char *copy = xstrdup(line);
	struct strbuf b = STRBUF_INIT;
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (strncmp(w, "kperfbot.", 9) != 0)
			strbuf_addf(&b, "%s%s", b.len ? " " : "", w);
	}
	return strbuf_take(&b);
}

json_t *facts_now(json_t *missing)
{
	_cleanup_(freep) char *words = facts_read_line("/proc/cmdline");
	_cleanup_(freep) char *cmdline = words ? facts_cmdline(words) : NULL;
	_cleanup_(freep) char *taint = facts_read_line("/proc/sys/kernel/tainted");
	const char *tmp = getenv("TMPDIR");
	json_t *facts = json_object();

	facts_machine(facts);
	add_line(facts, "kernel", "/proc/version");
	if (cmdline)
		(void)json_object_set_new(facts, "cmdline", json_string(cmdline));
	add_fs(facts, "tmp_fs", "/tmp");
	add_fs(facts, "shm_fs", "/dev/shm");
	add_fs(facts, "work_fs", tmp && *tmp == '/' ? tmp : "/tmp");
	if (taint)
		(void)json_object_set_new(facts, "taint",
					  json_integer((json_int_t)strtoull(taint, NULL, 10)));
	(void)json_object_set_new(facts, "swap_total_bytes",
				  json_integer((json_int_t)read_meminfo("SwapTotal")));
	(void)json_object_set_new(facts, "agent", json_string(KPERFBOT_VERSION));
	if (json_array_size(missing) > 0)
		(void)json_object_set(facts, "not_set_up", missing);
	return facts;
}

void facts_changed(json_t *before, json_t *now, json_t *ret)
{
	const char *key;
	json_t *v;

	json_object_foreach (now, key, v) {
		if (!json_equal(v, json_object_get(before, key)))
			(void)json_object_set(ret, key, v);
	}
	json_object_foreach (before, key, v) {
		/* What the set-up told of itself is in no later look. */
		if (!json_object_get(now, key) && strcmp(key, "not_set_up") != 0)
			(void)json_object_set_new(ret, key, json_null());
	}
}

void facts_busy(json_t *ret)
{
	_cleanup_(freep) char *line = facts_read_line("/proc/loadavg");
	char *slash = line ? strchr(line, '/') : NULL;
	long n;

	/* "0.20 0.18 0.12 1/80 11206": the one that runs is us. */
	if (!slash)
		return;
	while (slash > line && slash[-1] >= '0' && slash[-1] <= '9')
		slash--;
	n = strtol(slash, NULL, 10) - 1;
	if (n > 0)
		(void)json_object_set_new(ret, "running_others", json_integer(n));
}

double facts_clock_offset_s(void)
{
	struct timespec wall, count;

	(void)clock_gettime(CLOCK_REALTIME, &wall);
	if (clock_gettime(CLOCK_BOOTTIME, &count) < 0)
		(void)clock_gettime(CLOCK_MONOTONIC, &count);
	return (double)(wall.tv_sec - count.tv_sec) + (double)(wall.tv_nsec - count.tv_nsec) / 1e9;
}

static char *find_nonce(void)
{
	_cleanup_(freep) char *line = facts_read_line("/proc/cmdline");
	char *save = NULL;

	for (char *w = line ? strtok_r(line, " ", &save) : NULL; w;
	     w = strtok_r(NULL, " ", &save)) {
		if (!strncmp(w, "kperfbot.nonce=", 15))
			return xstrdup(w + 15);
	}
	return NULL;
}

static char *find_build_id(void)
{
	_cleanup_(freep) char *notes = xcalloc(1, 65536);
	ssize_t n = read_some("/sys/kernel/notes", notes, 65536);
	char *hex = NULL;

	if (n > 0)
		(void)proto_build_id_find(notes, (size_t)n, &hex, NULL);
	return hex;
}

void facts_hello(const char *nonce, json_t *missing, struct proto_hello *ret)
{
	struct utsname u;

	memset(ret, 0, sizeof(*ret));
	ret->version = PROTO_VERSION;
	ret->cpus = facts_cpus();
	ret->mem_total_bytes = read_meminfo("MemTotal");
	ret->mem_available_bytes = read_meminfo("MemAvailable");
	ret->swap_total_bytes = read_meminfo("SwapTotal");
	ret->release = xstrdup(uname(&u) == 0 ? u.release : "unknown");
	ret->build_id = find_build_id();
	ret->boot_id = facts_read_line("/proc/sys/kernel/random/boot_id");
	ret->nonce = nonce ? xstrdup(nonce) : find_nonce();
	ret->facts = facts_now(missing);
}
