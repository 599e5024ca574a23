/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/facts.h"

#include "bot/base/err.h"
#include "runners/agent/numbered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define CPU_DIR "/sys/devices/system/cpu"

static void set_take(json_t *facts, const char *key, char *value)
{
	if (value)
		(void)json_object_set_new(facts, key, json_string(value));
	free(value);
}

static json_t *mitigations(void)
{
	static const char dir[] = CPU_DIR "/vulnerabilities";
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
	char **paths;
	size_t n = numbered_paths("/sys/devices/system/node/node*", &paths);

	numbered_free(paths);
	return (int)n;
}

/* CPUs that are the first of their core; 0 if the kernel tells nothing of cores. */
static int count_cores(void)
{
	char **paths;
	size_t n = numbered_paths(CPU_DIR "/cpu*/topology/thread_siblings_list", &paths);
	int cores = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *line = facts_read_line(paths[i]);

		cores += line && strtol(line, NULL, 10) ==
					 strtol(paths[i] + strlen(CPU_DIR "/cpu"), NULL, 10);
	}
	numbered_free(paths);
	return cores;
}

/* Governors that are not the same on all CPUs are told as "a, b". */
static char *governors(void)
{
	struct strbuf all = STRBUF_INIT;
	char **paths;
	size_t n = numbered_paths(CPU_DIR "/cpu*/cpufreq/scaling_governor", &paths);

	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *line = facts_read_line(paths[i]);

		if (line && !strstr(strbuf_str(&all), line))
			strbuf_addf(&all, "%s%s", all.len ? ", " : "", line);
	}
	numbered_free(paths);
	return all.len ? strbuf_take(&all) : NULL;
}

static char *compiler(void)
{
	_cleanup_(freep) char *line = facts_read_line("/proc/version");
	char *p = line ? strchr(line, '(') : NULL;
	char *start;
	int depth = 0;

	/* "Linux version 6.12 (who@where) (gcc (Debian) 12.2.0, GNU ld 2.40) #1 …" */
	p = p ? strstr(p, ") (") : NULL;
	if (!p)
		return NULL;
	start = p + 3;
	for (p = start; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		if (depth < 0)
			break;
	}
	return p > start ? xstrndup(start, (size_t)(p - start)) : NULL;
}

static bool is_guest(void)
{
	_cleanup_(freep) char *flags = facts_read_field("/proc/cpuinfo", "flags");
	const char *at = flags ? strstr(flags, " hypervisor") : NULL;

	return (at && (at[11] == ' ' || !at[11])) || access("/sys/hypervisor/type", F_OK) == 0;
}

static void add_files(json_t *facts)
{
	static const struct {
		const char *key, *path;
	} files[] = {
		{ "scaling_driver", CPU_DIR "/cpu0/cpufreq/scaling_driver" },
		{ "no_turbo", CPU_DIR "/intel_pstate/no_turbo" },
		{ "pstate", CPU_DIR "/intel_pstate/status" },
		{ "boost", CPU_DIR "/cpufreq/boost" },
		{ "smt", CPU_DIR "/smt/control" },
		{ "cpus_isolated", CPU_DIR "/isolated" },
		{ "numa_balancing", "/proc/sys/kernel/numa_balancing" },
		{ "aslr", "/proc/sys/kernel/randomize_va_space" },
		{ "overcommit", "/proc/sys/vm/overcommit_memory" },
		{ "swappiness", "/proc/sys/vm/swappiness" },
		{ "zswap", "/sys/module/zswap/parameters/enabled" },
		{ "clocksource",
		  "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
		{ "vendor", "/sys/class/dmi/id/sys_vendor" },
		{ "product", "/sys/class/dmi/id/product_name" },
		{ "board", "/sys/class/dmi/id/board_name" },
		{ "bios_version", "/sys/class/dmi/id/bios_version" },
		{ "bios_date", "/sys/class/dmi/id/bios_date" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		set_take(facts, files[i].key, facts_read_line(files[i].path));
}

void facts_machine(json_t *facts)
{
	int cores = count_cores();
	int present = facts_list_count(CPU_DIR "/present");

	add_files(facts);
	set_take(facts, "governor", governors());
	set_take(facts, "compiler", compiler());
	set_take(facts, "cpu_model", facts_read_field("/proc/cpuinfo", "model name"));
	set_take(facts, "microcode", facts_read_field("/proc/cpuinfo", "microcode"));
	set_take(facts, "thp", facts_thp());
	set_take(facts, "thp_defrag",
		 facts_read_chosen("/sys/kernel/mm/transparent_hugepage/defrag"));
	set_take(facts, "thp_shmem",
		 facts_read_chosen("/sys/kernel/mm/transparent_hugepage/shmem_enabled"));
	(void)json_object_set_new(facts, "cpus", json_integer(facts_cpus()));
	if (cores)
		(void)json_object_set_new(facts, "cores", json_integer(cores));
	if (present)
		(void)json_object_set_new(facts, "cpus_present", json_integer(present));
	(void)json_object_set_new(facts, "numa_nodes", json_integer(count_nodes()));
	(void)json_object_set_new(facts, "mitigations", mitigations());
	(void)json_object_set_new(facts, "hypervisor", json_boolean(is_guest()));
	(void)json_object_set_new(facts, "page_size_bytes", json_integer(sysconf(_SC_PAGESIZE)));
}
