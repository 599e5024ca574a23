/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The working directory of a run, and folders of our own in general. */
#pragma once

struct err;

/**
 * workdir_make() - a new empty folder in $TMPDIR, or in /tmp.
 * Return: its path without any symbolic link in it, to be freed; NULL with a reason.
 */
char *workdir_make(const char *prefix, struct err *e);

/**
 * workdir_remove() - remove a folder with all that is in it.
 * @path: as workdir_make() gave it.
 *
 * File systems mounted in it are unmounted, lazily. No symbolic link is followed and no other file
 * system entered: what cannot be unmounted stays, with the folder.
 * Return: 0, also when it is not there; ERR_IO with the first thing that stays.
 */
int workdir_remove(const char *path, struct err *e);

/**
 * workdir_lock() - mark a folder of workdir_make() as in use, as long as the descriptor is open.
 * Return: descriptor; -1 if that cannot be.
 */
int workdir_lock(const char *path);

/**
 * workdir_rescue() - remove folders of @prefix that nobody has in use any more, and that are older
 * than @age_s seconds. Return: how many.
 */
unsigned workdir_rescue(const char *prefix, long age_s);
