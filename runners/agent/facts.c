/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/facts.h"

#include "bot/base/err.h"
#include "runners/proto/build_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

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

/* Value of "key<spaces>: value" in a file such as /proc/cpuinfo; NULL if there is none. */
static char *read_field(const char *path, const char *key)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char line[1024];
	size_t len = strlen(key);

	while (f && fgets(line, sizeof(line), f)) {
		char *p = line + len;

		if (strncmp(line, key, len) != 0)
			continue;
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
	_cleanup_(freep) char *v = read_field("/proc/meminfo", key);

	return v ? strtoull(v, NULL, 10) * 1024 : 0;
}

/* The word in brackets of "always [madvise] never". */
static char *read_chosen(const char *path)
{
	_cleanup_(freep) char *line = facts_read_line(path);
	char *open = line ? strchr(line, '[') : NULL;
	char *close = open ? strchr(open, ']') : NULL;

	return close ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

char *facts_thp(void)
{
	return read_chosen("/sys/kernel/mm/transparent_hugepage/enabled");
}

static void set_take(json_t *facts, const char *key, char *value)
{
	if (value)
		(void)json_object_set_new(facts, key, json_string(value));
	free(value);
}

static json_t *mitigations(void)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	json_t *all = json_object();
	DIR *d = opendir(dir);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		_cleanup_(freep) char *path = NULL;

		if (de->d_name[0] == '.')
			continue;
		path = xasprintf("%s/%s", dir, de->d_name);
		set_take(all, de->d_name, facts_read_line(path));
	}
	if (d)
		(void)closedir(d);
	return all;
}

static int count_nodes(void)
{
	DIR *d = opendir("/sys/devices/system/node");
	struct dirent *de;
	int n = 0;

	while (d && (de = readdir(d)))
		n += !strncmp(de->d_name, "node", 4) && de->d_name[4] >= '0' &&
		     de->d_name[4] <= '9';
	if (d)
		(void)closedir(d);
	return n;
}

static int count_cpus(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int n = 0;

	if (set && sched_getaffinity(0, size, set) == 0)
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n > 0 ? n : 1;
}

/* Where a benchmark's files live changes what it measures. */
static const char *fs_name(const char *path)
{
	struct statfs st;

	if (statfs(path, &st) < 0)
		return NULL;
	switch ((unsigned long)st.f_type) {
	case 0x01021994:
		return "tmpfs";
	case 0x858458f6:
		return "ramfs";
	case 0xef53:
		return "ext";
	case 0x58465342:
		return "xfs";
	case 0x9123683e:
		return "btrfs";
	case 0x794c7630:
		return "overlay";
	default:
		return "other";
	}
}

static void add_facts(json_t *facts)
{
	static const struct {
		const char *key, *path;
	} files[] = {
		{ "kernel", "/proc/version" },
		{ "cmdline", "/proc/cmdline" },
		{ "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
		{ "scaling_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver" },
		{ "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo" },
		{ "boost", "/sys/devices/system/cpu/cpufreq/boost" },
		{ "smt", "/sys/devices/system/cpu/smt/control" },
		{ "numa_balancing", "/proc/sys/kernel/numa_balancing" },
		{ "aslr", "/proc/sys/kernel/randomize_va_space" },
		{ "overcommit", "/proc/sys/vm/overcommit_memory" },
		{ "clocksource",
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		set_take(facts, files[i].key, facts_read_line(files[i].path));
	set_take(facts, "cpu_model", read_field("/proc/cpuinfo", "model name"));
	set_take(facts, "microcode", read_field("/proc/cpuinfo", "microcode"));
	set_take(facts, "thp", facts_thp());
	set_take(facts, "thp_defrag", read_chosen("/sys/kernel/mm/transparent_hugepage/defrag"));
	(void)json_object_set_new(facts, "numa_nodes", json_integer(count_nodes()));
	(void)json_object_set_new(facts, "mitigations", mitigations());
	(void)json_object_set_new(facts, "page_size_bytes", json_integer(sysconf(_SC_PAGESIZE)));
	(void)json_object_set_new(facts, "tmp_fs", json_string(fs_name("/tmp")));
	(void)json_object_set_new(facts, "shm_fs", json_string(fs_name("/dev/shm")));
	(void)json_object_set_new(facts, "agent", json_string(KPERFBOT_VERSION));
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
	ret->cpus = count_cpus();
	ret->mem_total_bytes = read_meminfo("MemTotal");
	ret->mem_available_bytes = read_meminfo("MemAvailable");
	ret->swap_total_bytes = read_meminfo("SwapTotal");
	ret->release = xstrdup(uname(&u) == 0 ? u.release : "unknown");
	ret->build_id = find_build_id();
	ret->boot_id = facts_read_line("/proc/sys/kernel/random/boot_id");
	ret->nonce = nonce ? xstrdup(nonce) : find_nonce();
	ret->facts = json_object();
	add_facts(ret->facts);
	if (json_array_size(missing) > 0)
		(void)json_object_set(ret->facts, "not_set_up", missing);
}
