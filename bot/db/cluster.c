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
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

/* Where Debian keeps the servers; a folder with client programs alone is none. */
#define BIN_GLOB "/usr/lib/postgresql/*/bin/postgres"

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
	return xasprintf("host='%s/pg/sock' port=5432 user=kperfbot dbname=postgres", state_dir);
}

const char *cluster_conninfo(const struct cluster *c)
{
	return c->conninfo;
}

/* Major version of the data, 0 when there is none yet. */
static long data_version(const struct cluster *c)
{
	_cleanup_(freep) char *path = xasprintf("%s/PG_VERSION", c->data);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	return file_read(path, 64, &b, NULL) < 0 ? 0 : strtol(strbuf_str(&b), NULL, 10);
}

/* The server that made the data, else the newest. */
static int find_bin(struct cluster *c, struct err *e)
{
	long want = data_version(c);
	long best = 0;
	glob_t g;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread */
	if (glob(BIN_GLOB, 0, NULL, &g) != 0)
		return err_set(
			e, ERR_NOENT,
			"no PostgreSQL server found as %s; install package postgresql, or set "
			"kperfbot.database",
			BIN_GLOB);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *path = g.gl_pathv[i];
		long version = strtol(path + strlen("/usr/lib/postgresql/"), NULL, 10);

		if (want ? version != want : version <= best)
			continue;
		best = version;
		free(c->bin);
		c->bin = xstrndup(path, strlen(path) - strlen("/postgres"));
	}
	globfree(&g);
	if (!c->bin)
		return err_set(e, ERR_NOENT,
			       "'%s' was made by PostgreSQL %ld; install package postgresql-%ld",
			       c->data, want, want);
	return 0;
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

/* The last line that says what is wrong; hints and what follows from it come after. */
static const char *last_complaint(char *text)
{
	static const char *const marks[] = { "FATAL: ", "error: ", "PANIC: " };
	char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		for (char *p = text; (p = strstr(p, marks[i])); p++)
			found = p > found ? p : found;
	if (!found)
		return last_line(text);
	found[strcspn(found, "\n")] = '\0';
	return found;
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
			    last_complaint(res.out));
	child_result_done(&res);
	if (r == 0)
		r = write_settings(c, fresh, e);
	if (r == 0 && rename(fresh, c->data) < 0)
		r = err_errno(e, errno, "could not rename '%s'", fresh);
	return r;
}

/* First line of the server's pid file, 0 when there is none. */
static pid_t noted_pid(const char *path, struct strbuf *text)
{
	long pid;

	if (file_read(path, 4096, text, NULL) < 0)
		return 0;
	pid = strtol(strbuf_str(text), NULL, 10);
	return pid > 1 && pid < INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM) ? (pid_t)pid
											: 0;
}

/* The server works in its data folder; a zombie, or who got its number later, does not. */
static bool is_server(const struct cluster *c, pid_t pid)
{
	_cleanup_(freep) char *link = xasprintf("/proc/%d/cwd", (int)pid);
	_cleanup_(freep) char *data = realpath(c->data, NULL);
	char cwd[PATH_MAX];
	ssize_t n = readlink(link, cwd, sizeof(cwd) - 1);

	if (n < 0)
		return errno == EACCES || errno == EPERM;
	cwd[n] = '\0';
	return data && !strcmp(cwd, data);
}

static pid_t server_pid(const struct cluster *c)
{
	_cleanup_(freep) char *path = xasprintf("%s/postmaster.pid", c->data);
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	pid_t pid = noted_pid(path, &b);

	return pid && is_server(c, pid) ? pid : 0;
}

/*
 * A server refuses to start while the process of the pid file seems to live, which a zombie does
 * where nobody reaps orphans, and a stranger with its number. Its parent it takes for stale. The
 * file is not removed: it also names the memory that backends of the killed one may still use.
 */
static int disown_stale(const struct cluster *c, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/postmaster.pid", c->data);
	_cleanup_(freep) char *lock = xasprintf("%s/sock/.s.PGSQL.5432.lock", c->dir);
	_cleanup_(strbuf_done) struct strbuf old = STRBUF_INIT;
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	pid_t pid = noted_pid(path, &old);
	int r;

	if (!pid || pid == getpid() || is_server(c, pid))
		return 0;
	strbuf_addf(&b, "%d%s", (int)getpid(), old.s + strcspn(old.s, "\n"));
	r = file_write(path, b.s, b.len, 0600, e);
	if (r == 0)
		r = own(c, path, e);
	(void)unlink(lock);
	return r;
}

static int spawn_server(struct cluster *c, struct err *e)
{
	_cleanup_(freep) char *log = xasprintf("%s/log", c->dir);
	_cleanup_(freep) char *postgres = xasprintf("%s/postgres", c->bin);
	_cleanup_(freep) char *sock = xasprintf("%s/sock", c->dir);
	/* Given here, they hold when the folder was moved and whatever PGPORT says. */
	const char *argv[] = { postgres, "-D", c->data, "-k", sock, "-p", "5432", NULL };
	struct child_opts o = CHILD_OPTS_INIT;
	_cleanup_(closep) int fd = -1;
	int r;

	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", log);
	r = own(c, log, e);
	if (r == 0)
		r = disown_stale(c, e);
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
	return last_complaint(b->s);
}

static void nap_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&ts, NULL);
}

/* Seconds that a server may refuse to start: backends of a killed one still hold its memory. */
#define RESTART_S 30

/*
 * Until it answers. A server that ends is started again for a while: also when another process
 * seems to be the server, since a stale pid file may name anyone.
 */
static int wait_ready(struct cluster *c, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int down = 0;

	for (int i = 0; i < 6000; i++, nap_ms(100)) {
		PGPing ping = PQping(c->conninfo);
		int r;

		if (ping == PQPING_OK)
			return 0;
		if (c->child && waitpid(c->child, NULL, WNOHANG) != c->child)
			continue;
		c->child = 0;
		if (ping == PQPING_REJECT) /* that of another, in recovery */
			continue;
		if (++down > RESTART_S * 10)
			return err_set(e, ERR_CHILD, "the private database does not start: %s",
				       log_tail(c, &log));
		if (down % 10 != 1)
			continue;
		r = spawn_server(c, e);
		if (r < 0)
			return r;
	}
	return err_set(e, ERR_TIMEOUT, "the private database does not answer: %s",
		       log_tail(c, &log));
}

/* The path stands in a connection string and in a list of folders. */
static int check_path(const char *state_dir, const char *sock, struct err *e)
{
	if (state_dir[0] != '/' || strpbrk(state_dir, "'\"\\,\n"))
		return err_set(e, ERR_INVAL,
			       "state folder '%s' must be an absolute path without quotes, commas "
			       "and backslashes",
			       state_dir);
	if (strlen(sock) + sizeof("/.s.PGSQL.5432") > sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(e, ERR_INVAL,
			       "state folder '%s' has too long a path for a unix socket; 80 "
			       "characters are safe",
			       state_dir);
	return 0;
}

/* PostgreSQL wants the data to be its user's, and would say so only in its log. */
static int check_owner(const struct cluster *c, struct err *e)
{
	uid_t uid = c->other_user ? c->uid : geteuid();
	struct stat st;

	if (lstat(c->data, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, errno, "could not look at '%s'", c->data);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVAL, "'%s' is not a folder", c->data);
	if (st.st_uid != uid)
		return err_set(e, ERR_PERM,
			       "'%s' belongs to user %u and the database runs as user %u; start as "
			       "before, or set kperfbot.user",
			       c->data, st.st_uid, uid);
	return 0;
}

/* One start at a time; the winner makes the cluster, the others find it running. */
static int lock_start(const struct cluster *c, int *ret_fd, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/lock", c->dir);
	_cleanup_(closep) int fd = -1;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++, nap_ms(100)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(e, errno, "could not lock '%s'", path);
		if (i > 6000)
			return err_set(e, ERR_TIMEOUT, "another start holds '%s'", path);
	}
	*ret_fd = take_fd(fd);
	return 0;
}

static int prepare_folders(const struct cluster *c, const char *state_dir, struct err *e)
{
	_cleanup_(freep) char *sock = xasprintf("%s/sock", c->dir);
	struct stat st;
	int r;

	r = check_path(state_dir, sock, e);
	if (r == 0)
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
	_cleanup_(closep) int lock = -1;
	int r;

	c->dir = xasprintf("%s/pg", state_dir);
	c->data = xasprintf("%s/data", c->dir);
	c->conninfo = cluster_path_conninfo(state_dir);
	r = find_bin(c, e);
	if (r == 0)
		r = find_user(c, user, e);
	if (r == 0)
		r = prepare_folders(c, state_dir, e);
	if (r == 0)
		r = lock_start(c, &lock, e);
	if (r == 0)
		r = check_owner(c, e);
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

int cluster_revive(struct cluster *c, struct err *e)
{
	int r;

	if (c->child && waitpid(c->child, NULL, WNOHANG) == c->child)
		c->child = 0;
	if (c->child || server_pid(c))
		return 0;
	r = spawn_server(c, e);
	return r < 0 ? r : 1;
}

int cluster_stop(struct cluster *c, struct err *e)
{
	pid_t pid = c->child ? c->child : server_pid(c);

	if (!pid || kill(pid, SIGINT) < 0)
		return 0;
	for (int i = 0; i < 600; i++, nap_ms(100)) {
		/* One that is not our child may stay a zombie: its pid file tells. */
		if (pid == c->child ? waitpid(pid, NULL, WNOHANG) == pid
				    : server_pid(c) != pid || kill(pid, 0) < 0)
			return 0;
	}
	return err_set(e, ERR_TIMEOUT, "the private database (process %d) does not stop", pid);
}
