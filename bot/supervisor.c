/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/supervisor.h"

#include "bot/base/child.h"
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/loop.h"
#include "bot/base/strbuf.h"
#include "bot/db/cluster.h"
#include "bot/db/db.h"
#include "bot/db/migrate.h"
#include "bot/jobs/settings.h"
#include "bot/jobs/worker.h"
#include "bot/store/artefact.h"
#include "bot/store/job.h"
#include "bot/store/work.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define MAX_ROLES 8

/* A role that ran this long did not end because it cannot run. */
#define STEADY_S 20
/* From SIGTERM until roles that do not end are killed. */
#define STOP_S 6
/* How often the private database is looked at. */
#define DATABASE_S 1
/* How often files are swept that a killed worker had begun, and how old they are then at least. */
#define SWEEP_S 60
#define STRAY_S 10

struct member {
	struct supervisor *s;
	const char *name;
	pid_t pid; /* 0: not running */
	int falls; /* ends in a row */
	usec_t started;
};

struct supervisor {
	const struct config *config;
	const char *config_path;
	bool verbose;
	struct loop *loop;
	struct cluster *cluster;
	struct member members[MAX_ROLES];
	size_t n;
	bool stopping;
};

static void start_member(void *arg);

static bool any_running(const struct supervisor *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->members[i].pid)
			return true;
	return false;
}

static void on_member_end(void *arg, pid_t pid, int status)
{
	struct member *m = arg;
	double wait;

	(void)pid;
	m->pid = 0;
	if (clock_boottime() - m->started > STEADY_S * USEC_PER_SEC)
		m->falls = 0;
	wait = fmin(60, ldexp(1, m->falls > 6 ? 6 : m->falls));
	if (m->s->stopping) {
		if (!any_running(m->s))
			loop_exit(m->s->loop, 0);
		return;
	}
	m->falls++;
	log_warn("role ended, will be started again", lf_str("ROLE", m->name),
		 lf_i64("EXIT_STATUS",
			WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)),
		 lf_i64("DURATION_USEC", wait * 1e6));
	(void)loop_after(m->s->loop, wait, start_member, m, NULL);
}

/* systemd listens to us alone: the roles do not get its socket. Free the array only. */
static const char **role_env(void)
{
	const char **env;
	size_t n = 0;
	size_t k = 0;

	while (environ[n])
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0)
			env[k++] = environ[i];
	return env;
}

static void start_member(void *arg)
{
	struct member *m = arg;
	const char *argv[] = { "/proc/self/exe",
			       "--config",
			       m->s->config_path,
			       "--role",
			       m->name,
			       m->s->verbose ? "-v" : NULL,
			       NULL };
	_cleanup_(freep) const char **env = role_env();
	struct child_opts o = CHILD_OPTS_INIT;
	struct err e = { 0 };

	if (m->s->stopping)
		return;
	o.argv = argv;
	o.env = env;
	o.stderr_fd = STDERR_FILENO;
	if (child_spawn(&o, &m->pid, &e) < 0 ||
	    loop_child(m->s->loop, m->pid, on_member_end, m, &e) < 0) {
		log_error("could not start role", lf_str("ROLE", m->name), lf_err(e));
		(void)loop_after(m->s->loop, 5, start_member, m, NULL);
		return;
	}
	m->started = clock_boottime();
}

/* A role may be waiting for a database that is away. Its work is leased: others take it over. */
static void kill_rest(void *arg)
{
	struct supervisor *s = arg;

	for (size_t i = 0; i < s->n; i++) {
		if (!s->members[i].pid)
			continue;
		log_warn("role does not end, killed", lf_str("ROLE", s->members[i].name));
		(void)kill(s->members[i].pid, SIGKILL);
	}
}

static void watch_database(void *arg)
{
	struct supervisor *s = arg;
	struct err e = { 0 };
	int r;

	if (s->stopping)
		return;
	r = cluster_revive(s->cluster, &e);
	if (r < 0)
		log_error("could not start the private database again", lf_err(e));
	else if (r > 0)
		log_warn("the private database had ended, started again");
}

static void sweep(void *arg)
{
	const struct supervisor *s = arg;
	struct err e = { 0 };

	if (!s->stopping && artefact_sweep(settings_state_dir(s->config), STRAY_S, &e) < 0)
		log_warn("could not remove what killed writers have left", lf_err(e));
}

static void on_stop(void *arg)
{
	struct supervisor *s = arg;

	s->stopping = true;
	(void)sd_notify(0, "STOPPING=1");
	log_info("stopping");
	for (size_t i = 0; i < s->n; i++)
		if (s->members[i].pid)
			(void)kill(s->members[i].pid, SIGTERM);
	if (!any_running(s))
		loop_exit(s->loop, 0);
	(void)loop_after(s->loop, STOP_S, kill_rest, s, NULL);
}

static int choose_roles(struct supervisor *s, const char *roles, struct err *e)
{
	_cleanup_(freep) char *copy = xstrdup(roles ? roles : role_names());
	char *save = NULL;

	for (char *w = strtok_r(copy, ", ", &save); w; w = strtok_r(NULL, ", ", &save)) {
		const struct role *role = role_find(w);

		if (!role)
			return err_set(e, ERR_INVAL, "there is no role '%s'; roles are %s", w,
				       role_names());
		for (size_t i = 0; i < s->n; i++)
			if (s->members[i].name == role->name)
				return err_set(e, ERR_INVAL, "role '%s' is named twice", w);
		s->members[s->n++] = (struct member){ .s = s, .name = role->name };
	}
	return s->n ? 0 : err_set(e, ERR_INVAL, "no role named; roles are %s", role_names());
}

static int lock_state(const char *state, int *ret_fd, struct err *e)
{
	_cleanup_(freep) char *path = xasprintf("%s/lock", state);
	int fd;
	int r;

	r = file_mkdirs(state, 0711, e);
	if (r < 0)
		return err_wrap(e, "state folder '%s' cannot be used", state);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, errno, "state folder '%s' is not writable", state);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		(void)close(fd);
		return err_set(e, ERR_CONFLICT, "another kperfbotd uses the state folder '%s'",
			       state);
	}
	*ret_fd = fd;
	return 0;
}

static int check_jobs(const struct config *c, struct err *e)
{
	_cleanup_(freep) const char **jobs = config_names(c, "job");
	int r = 0;

	for (size_t i = 0; r == 0 && jobs[i]; i++)
		r = job_check(c, jobs[i], e);
	return r;
}

static int prepare_database(struct supervisor *s, struct err *e)
{
	const struct config *c = s->config;
	_cleanup_(freep) char *conninfo = settings_conninfo(c);
	struct db_options o = { .conninfo = conninfo,
				.application = "kperfbot migrate",
				.away_s = 60,
				.no_prepare = true };
	_cleanup_(db_closep) struct db *db = NULL;
	int r = 0;

	if (!config_str(c, "kperfbot", NULL, "database")) {
		log_info("starting the private database");
		r = cluster_start(settings_state_dir(c), config_str(c, "kperfbot", NULL, "user"),
				  &s->cluster, e);
	}
	if (r == 0)
		r = db_open(&o, &db, e);
	if (r == 0)
		r = migrate_run(db, e);
	if (r > 0)
		log_info("database migrated", lf_i64("COUNT", r));
	return r < 0 ? r : 0;
}

/*
 * Before any role runs: while we were away leases ran out, and the first role to look would take
 * them for crashes of work that has done nothing wrong.
 */
static int release_work(const struct supervisor *s, struct err *e)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r;

	r = settings_db(s->config, "kperfbot supervisor", 60, &db, e);
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		_cleanup_(freep) char *owner = role_owner(s->config, s->members[i].name);

		r = work_release_owner(db, owner, &(int){ 0 }, e);
	}
	return r;
}

static int run_loop(struct supervisor *s, struct err *e)
{
	int r;

	loop_on_stop(s->loop, on_stop, s);
	r = loop_every(s->loop, SWEEP_S, sweep, s, e);
	if (r == 0 && s->cluster)
		r = loop_every(s->loop, DATABASE_S, watch_database, s, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++)
		start_member(&s->members[i]);
	(void)sd_notify(0, "READY=1");
	log_info("running", lf_i64("COUNT", s->n));
	r = loop_run(s->loop, e);
	return r;
}

int supervisor_run(const struct config *c, const char *config_path, const char *roles, bool verbose,
		   struct err *e)
{
	struct supervisor s = { .config = c, .config_path = config_path, .verbose = verbose };
	_cleanup_(closep) int lock = -1;
	int r;

	r = choose_roles(&s, roles, e);
	if (r == 0)
		r = check_jobs(c, e);
	if (r == 0)
		r = lock_state(settings_state_dir(c), &lock, e);
	if (r == 0)
		r = loop_new(&s.loop, e);
	if (r == 0)
		r = prepare_database(&s, e);
	if (r == 0)
		r = release_work(&s, e);
	if (r == 0)
		r = artefact_sweep(settings_state_dir(c), 0, e);
	if (r == 0)
		r = run_loop(&s, e);
	loop_free(s.loop);
	if (s.cluster) {
		struct err why = { 0 };

		if (cluster_stop(s.cluster, &why) < 0)
			log_error("database did not stop", lf_err(why));
		cluster_free(s.cluster);
	}
	return r;
}
