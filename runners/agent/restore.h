/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that says what is to be put back: a line "PATH<tab>VALUE" for each change, locked by the
 * agent that has made them. Locks end with their process, so an unlocked file with lines in it was
 * left by an agent that was killed.
 */
#pragma once

#include <stddef.h>

struct err;

/**
 * restore_open() - make it, or take it over, and lock it. What a dead agent left is put back first.
 * @ret_fd: the lock; restore_close() it.
 * Return: 0; ERR_CONFLICT while another agent has it; ERR_IO, ERR_PERM.
 */
int restore_open(const char *file, int *ret_fd, struct err *e);

/** restore_add() - one more change is about to be made. */
int restore_add(int fd, const char *path, const char *value, struct err *e);

/** restore_close() - all is as it was: remove the file and end the lock. */
void restore_close(const char *file, int fd);

/** restore_write() - @value to a file of /proc or /sys. */
int restore_write(const char *path, const char *value, struct err *e);

/** restore_all() - put back what the file @fd says, the last first, and empty it. How many? */
unsigned restore_all(int fd);
