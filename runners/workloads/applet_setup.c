/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, folders and mounts that a run needs. */
#include "runners/workloads/applets.h"
#include "runners/workloads/harness.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define MIB		 (1024ULL * 1024)
#define BUSY_RETRIES	 20
#define BUSY_RETRY_NSECS 50000000L

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * UINT64_C(0x2545f4914f6cdd1d);
}

static void fill_file(int fd, size_t bytes, bool random, const char *path)
{
	static uint64_t block[65536 / sizeof(uint64_t)];
	uint64_t seed = 1;

	/* Only a file system that packs or compares data sees that it is a simple generator. */
	if (random && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = 1;
	seed |= 1;
	for (size_t at = 0, n; at < bytes; at += n) {
		n = bytes - at < sizeof(block) ? bytes - at : sizeof(block);
		for (size_t i = 0; random && i < sizeof(block) / sizeof(block[0]); i++)
			block[i] = next_random(&seed);
		for (size_t done = 0; done < n;) {
			ssize_t w = write(fd, (const char *)block + done, n - done);

			must(w > 0, path);
			done += (size_t)w;
		}
	}
}

int applet_make_file(int argc, char **argv)
{
	bool random = false, zero = false;
	const char *words[2];
	size_t bytes;
	int n = 0, fd;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--random"))
			random = true;
		else if (!strcmp(argv[i], "--zero"))
			zero = true;
		else if (n < 2 && strncmp(argv[i], "--", 2) != 0)
			words[n++] = argv[i];
		else
			return APPLET_USAGE;
	}
	if (n != 2 || (random && zero) || !bytes_parse(words[1], &bytes))
		return APPLET_USAGE;
	/* One that is there is made anew, so that nothing of it is in the page cache. */
	if (unlink(words[0]) < 0 && errno != ENOENT)
		die("%s: %m", words[0]);
	fd = open(words[0], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		die("%s: %m", words[0]);
	if (random || zero)
		fill_file(fd, bytes, random, words[0]);
	else
		must(ftruncate(fd, (off_t)bytes) == 0, words[0]);
	must(close(fd) == 0, words[0]);
	return 0;
}

int applet_make_folder(int argc, char **argv)
{
	char path[4096];

	if (argc != 2 || !argv[1][0] || strlen(argv[1]) >= sizeof(path))
		return APPLET_USAGE;
	memcpy(path, argv[1], strlen(argv[1]) + 1);
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			die("%s: %m", path);
		*p = '/';
	}
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die("%s: %m", path);
	return 0;
}

int applet_remove_files(int argc, char **argv)
{
	int bad = 0;

	if (argc < 2)
		return APPLET_USAGE;
	for (int i = 1; i < argc; i++) {
		if (unlink(argv[i]) == 0 || errno == ENOENT || errno == ENOTDIR)
			continue;
		(void)fprintf(stderr, "remove-files: %s: %m\n", argv[i]);
		bad = 1;
	}
	return bad;
}

int applet_mount_tmpfs(int argc, char **argv)
{
	char options[64];
	size_t bytes;

	/* A tmpfs of 0 bytes would be one without a limit. */
	if (argc != 3 || !bytes_parse(argv[2], &bytes) || bytes == 0)
		return APPLET_USAGE;
	if (mkdir(argv[1], 0755) < 0 && errno != EEXIST)
		die("%s: %m", argv[1]);
	(void)snprintf(options, sizeof(options), "size=%zu,mode=1777", bytes);
	if (mount("tmpfs", argv[1], "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		die("could not mount a tmpfs on %s: %m", argv[1]);
	return 0;
}

int applet_unmount(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = BUSY_RETRY_NSECS };
	int r = -1;

	if (argc != 2)
		return APPLET_USAGE;
	for (int i = 0; i < BUSY_RETRIES; i++) {
		r = umount2(argv[1], 0);
		if (r == 0 || errno != EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	/* What still holds it keeps it alive, but nobody sees it any more. */
	if (r < 0 && errno == EBUSY)
		r = umount2(argv[1], MNT_DETACH);
	if (r < 0 && errno != EINVAL && errno != ENOENT)
		die("could not unmount %s: %m", argv[1]);
	(void)rmdir(argv[1]);
	return 0;
}

int applet_need_disk(int argc, char **argv)
{
	struct statfs fs;
	uint64_t room;
	size_t bytes;

	if (argc != 3 || !bytes_parse(argv[2], &bytes))
		return APPLET_USAGE;
	if (statfs(argv[1], &fs) < 0)
		die("%s: %m", argv[1]);
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		die("the working folder is in memory (%s); this case needs one on a disk",
		    fs.f_type == TMPFS_MAGIC ? "tmpfs" : "ramfs");
	room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (room < bytes)
		die("this case writes %llu MiB, and the disk has %llu MiB free", bytes / MIB,
		    room / MIB);
	return 0;
}
