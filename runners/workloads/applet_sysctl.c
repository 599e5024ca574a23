/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of the running kernel, and a note of what they were. */
#include "runners/workloads/applets.h"
#include "runners/workloads/harness.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUE_MAX ((size_t)256)
#define NOTES_MAX 64

/* "vm.overcommit_memory", or a path below /proc/sys or /sys. Return: false if it is neither. */
static bool path_of(const char *name, char *buf, size_t cap)
{
	bool whole = !strncmp(name, "/sys/", 5) || !strncmp(name, "/proc/sys/", 10);
	int n = snprintf(buf, cap, "%s%s", whole ? "" : "/proc/sys/", name);

	if (n <= 0 || (size_t)n >= cap || strstr(name, "..") || (!whole && name[0] == '/'))
		return false;
	for (char *p = buf + strlen("/proc/sys/"); !whole && *p; p++)
		if (*p == '.')
			*p = '/';
	return !strpbrk(buf, " \t\n");
}

static bool read_value(const char *path, char *buf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, buf, VALUE_MAX - 1);
		(void)close(fd);
	}
	if (n < 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static bool write_value(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t want = (ssize_t)strlen(value), n = -1;

	if (fd >= 0) {
		n = write(fd, value, (size_t)want);
		(void)close(fd);
	}
	return n == want;
}

static void note(const char *file, const char *path, const char *value)
{
	FILE *f = fopen(file, "ae");

	if (!f || fprintf(f, "%s %s\n", path, value) < 0 || fclose(f) != 0)
		die("%s: %m", file);
}

int applet_set_sysctl(int argc, char **argv)
{
	const char *save = option_value(&argc, &argv, "--save");
	bool at_least = option_take(&argc, &argv, "--at-least");
	char path[PATH_MAX], old[VALUE_MAX];
	uint64_t want, have;

	if (argc != 3 || strlen(argv[2]) >= VALUE_MAX || strchr(argv[2], '\n') ||
	    !path_of(argv[1], path, sizeof(path)) ||
	    (at_least && !count_parse(argv[2], UINT64_MAX, &want)))
		return APPLET_USAGE;
	/* There are values that can only be written. */
	if (!read_value(path, old)) {
		if (save || at_least)
			die("%s: %m", path);
		old[0] = '\0';
	}
	if (save)
		note(save, path, old);
	if (at_least && (!count_parse(old, UINT64_MAX, &have) || have >= want))
		return 0;
	if (strcmp(old, argv[2]) != 0 && !write_value(path, argv[2]))
		die("%s = %s: %m", path, argv[2]);
	return 0;
}

/* Takes one line apart. Return: false if it is none of set-sysctl's. */
static bool restore_line(char *line, bool *good)
{
	char now[VALUE_MAX], path[PATH_MAX];
	char *value = strchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	if (!value)
		return false;
	*value++ = '\0';
	if (!path_of(line, path, sizeof(path)))
		return false;
	if (read_value(path, now) && !strcmp(now, value))
		return true;
	if (!write_value(path, value)) {
		(void)fprintf(stderr, "restore-sysctls: %s = %s: %m\n", path, value);
		*good = false;
	}
	return true;
}

int applet_restore_sysctls(int argc, char **argv)
{
	char *lines[NOTES_MAX] = { NULL };
	bool good = true;
	size_t cap = 0;
	int n = 0;
	FILE *f;

	if (argc != 2)
		return APPLET_USAGE;
	f = fopen(argv[1], "re");
	/* The set-up did not come so far. */
	if (!f && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!f)
		die("%s: %m", argv[1]);
	while (n < NOTES_MAX && getline(&lines[n], &cap, f) > 0) {
		n++;
		cap = 0;
	}
	(void)fclose(f);
	/* Backwards: the first note of a value is what it was at the start. */
	for (int i = n; i-- > 0;) {
		if (!restore_line(lines[i], &good))
			die("%s: line %d is not NAME VALUE", argv[1], i + 1);
		free(lines[i]);
	}
	(void)unlink(argv[1]);
	return good ? 0 : 1;
}
