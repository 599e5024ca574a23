/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/db/cluster.h"

#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

/* Where Debian keeps the servers; the highest version comes last. */
#define BIN_GLOB "/usr/lib/postgresql/*/bin"

struct cluster {
	char *dir; /* STATE/pg, holds data, sock and log */
	char *data;
	char *bin;
	char *conninfo;
	bool other_user;
	uid_t uid;
	gid_t gid;
	pid_t child; /* 0 when the server was already there */
};

void cluster_free(struct cluster *c)
{
	if (!c)
		return;
	free(c->dir);
	free(c->data);
	free(c->bin);
	free(c->conninfo);
	free(c);
}
DEFINE_CLEANUP(struct cluster *, cluster_free);

char *cluster_path_conninfo(const char *state_dir)
{
	return xasprintf("host='%s/pg/sock' user=kperfbot dbname=postgres", state_dir);
}

const char *cluster_conninfo(const struct cluster *c)
{
	return c->conninfo;
}

static int find_bin(struct cluster *c, struct err *e)
{
	glob_t g;
	int r = 0;

	if (glob(BIN_GLOB, 0, NULL, &g) != 0)
		return err_set(
			e, ERR_NOENT,
			"no PostgreSQL server found in %s; install package postgresql, or set "
			"kperfbot.database",
			BIN_GLOB);
	c->bin = xstrdup(g.gl_pathv[g.gl_pathc - 1]);
	globfree(&g);
	return r;
}

static int find_user(struct cluster *c, const char *user, struct err *e)
{
	const struct passwd *pw;

	if (geteuid() != 0)
		return 0;
	pw = getpwnam(user); /* NOLINT(concurrency-mt-unsafe): before any thread */
	if (!pw || pw->pw_uid == 0)
		return err_set(
			e, ERR_NOENT,
			"kperfbot.user: there is no user '%s' other than root for the database",
			user);
	c->other_user = true;
	c->uid = pw->pw_uid;
	c->gid = pw->pw_gid;
	return 0;
}

static int own(const struct cluster *c, const char *path, struct err *e)
{
	if (c->other_user && chown(path, c->uid, c->gid) < 0)
		return err_errno(e, errno, "could not give '%s' to the database user", path);
	return 0;
}

static int make_folder(const struct cluster *c, const char *path, struct err *e)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(e, errno, "could not create folder '%s'", path);
	return own(c, path, e);
}

static void ids(const struct cluster *c, struct child_opts *o)
{
	o->set_ids = c->other_user;
	o->uid = c->uid;
	o->gid = c->gid;
	o->cwd = c->dir;
}

static const char *last_line(char *text)
{
	size_t n = strlen(text);
	char *nl;

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	nl = strrchr(text, '\n');
	return nl ? nl + 1 : text;
}

static int write_settings(const struct cluster *c, const char *data, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/postgresql.auto.conf", data);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	int r;

	strbuf_addstr(&b, "listen_addresses = ''\n");
	strbuf_addf(&b, "unix_socket_directories = '%s/sock'\n", c->dir);
	strbuf_addstr(&b, "unix_socket_permissions = 0700\nmax_connections = 100\n"
			  "log_line_prefix = '%m [%p] %a '\n");
	r = file_write(path, b.s, b.len, 0600, e);
	return r < 0 ? r : own(c, path, e);
}

/* In a folder of another name, renamed at the end: a half-made cluster is never taken for one. */
static int init_cluster(const struct cluster *c, struct err *e)
{
	_cleanup_(freep) char *fresh = xasprintf("%s/data.new", c->dir);
	_cleanup_(freep) char *initdb = xasprintf("%s/initdb", c->bin);
	const char *argv[] = { initdb, "-D",	fresh, "-U",   "kperfbot",
			       "-A",   "trust", "-E",  "UTF8", "--locale=C.UTF-8",
			       NULL };
	struct child_run_opts o = { .spawn = CHILD_OPTS_INIT, .total_s = 300 };
	struct child_result res = { 0 };
	int r;

	r = file_remove_tree(fresh, e);
	if (r < 0)
		return r;
	o.spawn.argv = argv;
	ids(c, &o.spawn);
	r = child_run(&o, &res, e);
	if (r < 0)
		return r;
	if (res.end != CHILD_EXITED || res.status != 0)
		r = err_set(e, ERR_CHILD, "could not make a database cluster in '%s': %s", c->dir,
			    last_line(res.out));
	child_result_done(&res);
	if (r == 0)
		r = write_settings(c, fresh, e);
	if (r == 0 && rename(fresh, c->data) < 0)
		r = err_errno(e, errno, "could not rename '%s'", fresh);
	return r;
}

static pid_t server_pid(const struct cluster *c)
{
	_cleanup_(freep) char *path = xasprintf("%s/postmaster.pid", c->data);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	long pid;

	if (file_read(path, 4096, &b, NULL) < 0)
		return 0;
	pid = strtol(strbuf_str(&b), NULL, 10);
	return pid > 1 && (kill((pid_t)pid, 0) == 0 || errno == EPERM) ? (pid_t)pid : 0;
}

static int spawn_server(struct cluster *c, struct err *e)
{
	_cleanup_(freep) char *log = xasprintf("%s/log", c->dir);
	_cleanup_(freep) char *postgres = xasprintf("%s/postgres", c->bin);
	const char *argv[] = { postgres, "-D", c->data, NULL };
	struct child_opts o = CHILD_OPTS_INIT;
	_cleanup_(closep) int fd = -1;
	int r;

	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", log);
	r = own(c, log, e);
	if (r < 0)
		return r;
	o.argv = argv;
	o.stdout_fd = o.stderr_fd = fd;
	/* A killed supervisor must not take the database with it: the next one finds it running. */
	o.outlive = true;
	ids(c, &o);
	return child_spawn(&o, &c->child, e);
}

static const char *log_tail(const struct cluster *c, struct strbuf *b)
{
	_cleanup_(freep) char *path = xasprintf("%s/log", c->dir);

	if (file_read(path, 64 << 20, b, NULL) < 0 || !b->len)
		return "no log";
	return last_line(b->s);
}

static void nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&ts, NULL);
}

/* Until it answers. Its death while backends of a killed one still hold memory is tried again. */
static int wait_ready(struct cluster *c, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int restarts = 0;

	for (int i = 0; i < 6000; i++, nap_ms(100)) {
		if (PQping(c->conninfo) == PQPING_OK)
			return 0;
		if (!c->child || waitpid(c->child, NULL, WNOHANG) != c->child)
			continue;
		c->child = 0;
		if (++restarts > 30)
			return err_set(e, ERR_CHILD, "the private database does not start: %s",
				       log_tail(c, &log));
		nap_ms(500);
		if (!server_pid(c)) {
			int r = spawn_server(c, e);

			if (r < 0)
				return r;
		}
	}
	return err_set(e, ERR_TIMEOUT, "the private database does not answer: %s",
		       log_tail(c, &log));
}

static int prepare_folders(const struct cluster *c, const char *state_dir, struct err *e)
{
	_cleanup_(freep) char *sock = xasprintf("%s/sock", c->dir);
	struct stat st;
	int r;

	if (strlen(sock) + sizeof("/.s.PGSQL.5432") > sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(e, ERR_INVAL,
			       "state folder '%s' has too long a path for a unix socket; 80 "
			       "characters are safe",
			       state_dir);
	r = file_mkdirs(state_dir, 0711, e);
	if (r == 0 && c->other_user && stat(state_dir, &st) == 0 && !(st.st_mode & S_IXOTH))
		(void)chmod(state_dir, st.st_mode | S_IXOTH | S_IXGRP);
	if (r == 0)
		r = make_folder(c, c->dir, e);
	if (r == 0)
		r = make_folder(c, sock, e);
	return r;
}

int cluster_start(const char *state_dir, const char *user, struct cluster **ret, struct err *e)
{
	_cleanup_(cluster_freep) struct cluster *c = xcalloc(1, sizeof(*c));
	int r;

	c->dir = xasprintf("%s/pg", state_dir);
	c->data = xasprintf("%s/data", c->dir);
	c->conninfo = cluster_path_conninfo(state_dir);
	r = find_bin(c, e);
	if (r == 0)
		r = find_user(c, user, e);
	if (r == 0)
		r = prepare_folders(c, state_dir, e);
	if (r == 0 && access(c->data, F_OK) < 0)
		r = init_cluster(c, e);
	if (r == 0 && !(server_pid(c) && PQping(c->conninfo) == PQPING_OK))
		r = spawn_server(c, e);
	if (r == 0)
		r = wait_ready(c, e);
	if (r == 0)
		*ret = take_ptr(c);
	return r;
}

int cluster_stop(struct cluster *c, struct err *e)
{
	pid_t pid = c->child ? c->child : server_pid(c);

	if (!pid || kill(pid, SIGINT) < 0)
		return 0;
	for (int i = 0; i < 600; i++, nap_ms(100)) {
		if (pid == c->child ? waitpid(pid, NULL, WNOHANG) == pid : kill(pid, 0) < 0)
			return 0;
	}
	return err_set(e, ERR_TIMEOUT, "the private database (process %d) does not stop", pid);
}
