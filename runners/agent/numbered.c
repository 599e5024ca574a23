/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/numbered.h"

#include "bot/base/strbuf.h"

#include <dirent.h>
#include <string.h>

#define NUMBERS_MAX 65536

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* Numbers that follow @prefix in the names of the folder @dir, in order. */
static size_t numbers(const char *dir, const char *prefix, long **ret)
{
	size_t len = strlen(prefix), n = 0;
	DIR *d = opendir(dir);
	struct dirent *de;

	*ret = NULL;
	while (d && n < NUMBERS_MAX && (de = readdir(d))) {
		const char *digits = de->d_name + len;

		if (strncmp(de->d_name, prefix, len) != 0 || !*digits || strlen(digits) > 9 ||
		    digits[strspn(digits, "0123456789")])
			continue;
		*ret = xreallocarray(*ret, n + 1, sizeof(**ret));
		(*ret)[n++] = strtol(digits, NULL, 10);
	}
	if (d)
		(void)closedir(d);
	if (n)
		qsort(*ret, n, sizeof(**ret), compare);
	return n;
}

size_t numbered_paths(const char *pattern, char ***ret)
{
	const char *star = strchr(pattern, '*');
	_cleanup_(freep) char *dir = star ? xstrndup(pattern, (size_t)(star - pattern)) : NULL;
	_cleanup_(freep) long *list = NULL;
	char *slash = dir ? strrchr(dir, '/') : NULL;
	size_t n = 0, found = 0;

	if (slash) {
		*slash = '\0';
		n = numbers(dir, slash + 1, &list);
	}
	*ret = xcalloc(n + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++) {
		char *path =
			xasprintf("%.*s%ld%s", (int)(star - pattern), pattern, list[i], star + 1);

		if (access(path, F_OK) == 0)
			(*ret)[found++] = path;
		else
			free(path);
	}
	return found;
}

void numbered_free(char **paths)
{
	for (char **p = paths; p && *p; p++)
		free(*p);
	free(paths);
}
