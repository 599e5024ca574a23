/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A memory cgroup, of either version. */
#include "runners/workloads/applets.h"
#include "runners/workloads/harness.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define V1_ROOT	       "/sys/fs/cgroup/memory"
#define V2_ROOT	       "/sys/fs/cgroup"
#define REMOVE_RETRIES 100

static bool is_name(const char *s)
{
	return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(s) &&
	       strlen(s) < 64;
}

static bool is_v1(void)
{
	return access(V1_ROOT "/memory.limit_in_bytes", F_OK) == 0;
}

static void path_in(char *buf, const char *name, const char *file)
{
	(void)snprintf(buf, PATH_MAX, "%s/%s%s%s", is_v1() ? V1_ROOT : V2_ROOT, name,
		       *file ? "/" : "", file);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s: %m", path);
	(void)close(fd);
}

int applet_make_memcg(int argc, char **argv)
{
	char path[PATH_MAX], text[32];
	size_t bytes;

	if (argc != 3 || !is_name(argv[1]) || !bytes_parse(argv[2], &bytes))
		return APPLET_USAGE;
	if (!is_v1() && access(V2_ROOT "/cgroup.controllers", F_OK) < 0 &&
	    mount("cgroup2", V2_ROOT, "cgroup2", 0, NULL) < 0)
		die("this case needs memory cgroups, and %s is none: %m", V2_ROOT);
	if (!is_v1())
		put(V2_ROOT "/cgroup.subtree_control", "+memory");
	path_in(path, argv[1], "");
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die("%s: %m", path);
	path_in(path, argv[1], is_v1() ? "memory.limit_in_bytes" : "memory.max");
	(void)snprintf(text, sizeof(text), "%zu", bytes);
	put(path, text);
	return 0;
}

int applet_in_memcg(int argc, char **argv)
{
	char path[PATH_MAX];
	int r;

	if (argc < 3 || !is_name(argv[1]))
		return APPLET_USAGE;
	path_in(path, argv[1], "cgroup.procs");
	put(path, "0");
	if (workload_main(argc - 2, argv + 2, &r))
		return r;
	(void)execvp(argv[2], argv + 2);
	die("cannot execute '%.200s': %m", argv[2]);
}

int applet_remove_memcg(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	char path[PATH_MAX];

	if (argc != 2 || !is_name(argv[1]))
		return APPLET_USAGE;
	path_in(path, argv[1], "");
	/* The last process in it can be on its way out. */
	for (int i = 0; rmdir(path) < 0 && errno != ENOENT; i++) {
		if (errno != EBUSY || i == REMOVE_RETRIES)
			die("%s: %m", path);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}
