/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A newc cpio archive with the agent as /init and the workloads, made without any other program. */
#pragma once

struct err;

/**
 * initramfs_write() - write the archive to @path, replacing what is there.
 * @agent_path, @workloads_path: static programs; at most 256 MiB each.
 *
 * Uncompressed: unpacking is then the quickest, and needs no decompressor in the kernel. The same
 * input gives the same bytes.
 * Return: 0; ERR_NOENT, ERR_IO, ERR_NOSPACE, ERR_TOO_BIG.
 */
int initramfs_write(const char *path, const char *agent_path, const char *workloads_path,
		    struct err *e);

/**
 * initramfs_overlay() - append the archive @overlay, compressed or not: its files lie over the others.
 * Return: 0; ERR_NOENT, ERR_IO, ERR_NOSPACE, ERR_TOO_BIG above 1 GiB.
 */
int initramfs_overlay(const char *path, const char *overlay, struct err *e);
