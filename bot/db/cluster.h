/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The private PostgreSQL cluster: made in the state folder, reached over a unix socket only.
 * Started by root it belongs to and runs as another user, since PostgreSQL refuses root.
 */
#pragma once

#include <sys/types.h>

struct cluster;
struct err;

/**
 * cluster_start() - make the cluster if there is none, start it if it does not run, wait for it.
 * @state_dir: absolute path; the cluster is in its folder pg. Must be reachable by @user.
 * @user: user to run as when we are root; ignored otherwise.
 * @ret: cluster_free() it, which does not stop the server.
 *
 * A server that survived our death is used as it is; after a crash it is started again, and its
 * recovery is waited for. A half-made cluster is made anew.
 * Return: 0; ERR_NOENT no PostgreSQL programs or no such user, ERR_PERM, ERR_CHILD with the
 * server's last log line, ERR_TIMEOUT, ERR_INVAL socket path too long.
 */
int cluster_start(const char *state_dir, const char *user, struct cluster **ret, struct err *e);

/**
 * cluster_revive() - start the server again if it has ended; does not wait for it.
 * Return: 1 started, 0 it runs, or an error.
 */
int cluster_revive(struct cluster *c, struct err *e);

/** cluster_conninfo() - connection string; belongs to @c. */
const char *cluster_conninfo(const struct cluster *c);

/** cluster_path_conninfo() - the connection string of the cluster in @state_dir; free() it. */
char *cluster_path_conninfo(const char *state_dir);

/** cluster_stop() - fast shutdown; waits until the server is gone (60 s). */
int cluster_stop(struct cluster *c, struct err *e);
void cluster_free(struct cluster *c);
