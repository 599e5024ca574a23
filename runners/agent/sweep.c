/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/sweep.h"

#include "bot/base/strbuf.h"
#include "runners/agent/workdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "willitscale."

static unsigned sweep_folder(const char *dir, time_t since)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d))) {
		_cleanup_(freep) char *path = NULL;
		struct stat st;

		if (strncmp(de->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_uid != geteuid() || st.st_ctim.tv_sec < since)
			continue;
		path = xasprintf("%s/%s", dir, de->d_name);
		n += S_ISDIR(st.st_mode) ? workdir_remove(path, NULL) == 0 : unlink(path) == 0;
	}
	if (d)
		(void)closedir(d);
	return n;
}

unsigned sweep(time_t since)
{
	return sweep_folder("/tmp", since) + sweep_folder("/dev/shm", since);
}
