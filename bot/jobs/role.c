/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/clock.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/failpoint.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/loop.h"
#include "bot/base/vec.h"
#include "bot/db/db.h"
#include "bot/jobs/settings.h"
#include "bot/jobs/worker.h"
#include "bot/store/machine.h"
#include "bot/store/tree.h"
#include "bot/store/work.h"
#include "runners/drivers/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

static const struct role roles[] = {
	{ "watch", { "fetch", "fixes" } }, { "plan", { "plan" } },
	{ "build", { "build" } },	   { "lab", { "boot" } },
	{ "detect", { "detect" } },	   { "bisect", { "bisect" } },
	{ "mail", { "report", "send" } },  { "web", { NULL } },
};

const struct role *role_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].name, name))
			return &roles[i];
	return NULL;
}

const char *role_names(void)
{
	return "watch, plan, build, lab, detect, bisect, mail, web";
}

/*
 * A worker that has just stored its result has no lease either: one that ends by itself within
 * this time is not said to have lost it.
 */
#define LOST_GRACE_S 1

/* A machine that was not looked after for so many rounds is taken to be out of anyone's configuration. */
#define AWAY_ROUNDS 10

/*
 * A worker under way. @machine: index of the held machine, -1 for none. @lost_at: boot time at
 * which its lease was first seen to be gone, 0 while it holds it.
 */
struct running {
	struct runner *runner;
	pid_t pid;
	int64_t work;
	int64_t fence;
	char kind[16];
	int machine;
	usec_t lost_at;
	bool told_to_stop;
};

struct runner {
	const struct config *config;
	const char *config_path;
	const struct role *role;
	struct loop *loop;
	struct db *db;
	char *owner;
	double lease_s;
	double poll_s;
	int slots;	       /* workers at the same time, for roles without machines */
	const char **machines; /* role lab: our machines, NULL-terminated */
	VEC(struct running *) running;
	usec_t renewed; /* boot time of the last renewal that went well */
	int listening_fd;
	unsigned listening_generation;
	bool stopping;
};

static void on_poll(void *arg);

static void kill_worker(struct running *w)
{
	w->told_to_stop = true;
	(void)kill(-w->pid, SIGKILL);
	(void)kill(w->pid, SIGKILL);
}

static void on_worker_end(void *arg, pid_t pid, int status)
{
	struct running *w = arg;
	struct runner *r = w->runner;
	struct err e = { 0 };
	char how[64];

	(void)kill(-pid, SIGKILL); /* whatever it left behind */
	if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1) {
		if (WIFSIGNALED(status))
			(void)snprintf(how, sizeof(how), "worker killed by signal %d",
				       WTERMSIG(status));
		else
			(void)snprintf(how, sizeof(how), "worker ended with status %d",
				       WEXITSTATUS(status));
		log_warn("worker died", lf_i64("WORK_ID", w->work), lf_str("WORK_KIND", w->kind),
			 lf_str("ERROR", how));
		if (!w->told_to_stop && work_crashed(r->db, w->work, w->fence, how, &e) < 0)
			log_warn("could not give work back, its lease will run out",
				 lf_i64("WORK_ID", w->work), lf_err(e));
	}
	for (size_t i = 0; i < r->running.len; i++)
		if (r->running.items[i] == w)
			r->running.items[i] = r->running.items[--r->running.len];
	free(w);
	if (r->stopping && !r->running.len)
		loop_exit(r->loop, 0);
	else if (!r->stopping)
		on_poll(r);
}

static int start_worker(struct runner *r, const struct work *work, int machine, struct err *e)
{
	char id[24];
	char fence[24];
	const char *argv[] = { "/proc/self/exe", "--config", r->config_path, "--worker", id,
			       "--fence",	 fence,	     NULL,	     NULL,	 NULL };
	struct child_opts o = CHILD_OPTS_INIT;
	struct running *w;
	int rc;

	(void)snprintf(id, sizeof(id), "%lld", (long long)work->id);
	(void)snprintf(fence, sizeof(fence), "%lld", (long long)work->fence);
	if (machine >= 0) {
		argv[7] = "--machine";
		argv[8] = r->machines[machine];
	}
	o.argv = argv;
	o.stderr_fd = STDERR_FILENO;
	w = xcalloc(1, sizeof(*w));
	rc = child_spawn(&o, &w->pid, e);
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->runner = r;
	w->work = work->id;
	w->fence = work->fence;
	w->machine = machine;
	(void)snprintf(w->kind, sizeof(w->kind), "%s", work->kind);
	vec_push(&r->running, w);
	return loop_child(r->loop, w->pid, on_worker_end, w, e);
}

static bool machine_busy(const struct runner *r, int machine)
{
	vec_foreach (w, &r->running)
		if ((*w)->machine == machine)
			return true;
	return false;
}

/* Claims and starts until there is nothing more to do. @machine -1: any work of our kinds. */
static int claim_one(struct runner *r, int machine, struct err *e)
{
	_cleanup_(work_done) struct work work = { 0 };
	size_t kinds = r->role->kinds[1] ? 2 : 1;
	int rc;

	rc = machine >= 0
		     ? work_claim_boot(r->db, r->machines[machine], r->owner, r->lease_s, &work, e)
		     : work_claim(r->db, r->role->kinds, kinds, r->owner, r->lease_s, &work, e);
	if (rc <= 0)
		return rc;
	log_debug("work claimed", lf_i64("WORK_ID", work.id), lf_str("WORK_KIND", work.kind));
	rc = start_worker(r, &work, machine, e);
	if (rc < 0) {
		/* No fault of the work: too many processes, say. */
		(void)work_reschedule(r->db, work.id, work.fence, 5, e->msg, NULL);
		return rc;
	}
	return 1;
}

static int claim_all(struct runner *r, struct err *e)
{
	int rc = 1;

	if (!r->machines) {
		while (rc > 0 && (int)r->running.len < r->slots)
			rc = claim_one(r, -1, e);
		return rc < 0 ? rc : 0;
	}
	for (int i = 0; r->machines[i]; i++) {
		if (machine_busy(r, i))
			continue;
		rc = claim_one(r, i, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void watch_notices(struct runner *r);

static void on_poll(void *arg)
{
	struct runner *r = arg;
	struct err e = { 0 };
	int reaped = 0;
	int rc;

	if (r->stopping)
		return;
	rc = work_reap(r->db, &reaped, &e);
	if (rc == 0 && reaped)
		log_warn("leases had run out, work given back", lf_i64("COUNT", reaped));
	if (rc == 0)
		rc = claim_all(r, &e);
	if (rc < 0)
		log_warn("could not look for work, will try again", lf_err(e));
	watch_notices(r);
}

static void on_notice(void *arg)
{
	struct runner *r = arg;

	if (db_notices(r->db))
		on_poll(r);
}

/* A new connection often has the number of the old one, which epoll has forgotten by then. */
static void watch_notices(struct runner *r)
{
	if (db_generation(r->db) == r->listening_generation)
		return;
	loop_io_off(r->loop, r->listening_fd);
	r->listening_generation = db_generation(r->db);
	r->listening_fd = db_socket(r->db);
	if (r->listening_fd >= 0)
		(void)loop_io(r->loop, r->listening_fd, on_notice, r, NULL);
}

/* Stops the workers that are still there though their lease was gone a while ago. */
static void stop_lost(void *arg)
{
	struct runner *r = arg;
	usec_t now = clock_boottime();

	vec_foreach (w, &r->running) {
		if (!(*w)->lost_at || (*w)->told_to_stop ||
		    now - (*w)->lost_at < LOST_GRACE_S * USEC_PER_SEC)
			continue;
		log_warn("lease lost or work cancelled, worker stopped",
			 lf_i64("WORK_ID", (*w)->work));
		kill_worker(*w);
	}
}

/* A worker whose lease cannot be renewed is stopped before someone else may take the work. */
static void on_heartbeat(void *arg)
{
	struct runner *r = arg;
	size_t n = r->running.len;
	_cleanup_(freep) int64_t *ids = xcalloc(n, sizeof(*ids));
	_cleanup_(freep) int64_t *fences = xcalloc(n, sizeof(*fences));
	_cleanup_(freep) bool *lost = xcalloc(n, sizeof(*lost));
	struct err e = { 0 };
	usec_t now = clock_boottime();

	for (size_t i = 0; i < n; i++) {
		ids[i] = r->running.items[i]->work;
		fences[i] = r->running.items[i]->fence;
	}
	if (n && work_heartbeat(r->db, ids, fences, n, r->lease_s, lost, &e) < 0) {
		log_warn("could not renew leases", lf_err(e));
		for (size_t i = 0; i < n; i++)
			lost[i] = now - r->renewed > (usec_t)(r->lease_s * 1e6 * 2 / 3);
	} else {
		r->renewed = now;
	}
	for (size_t i = 0; i < n; i++) {
		if (!lost[i] || r->running.items[i]->lost_at)
			continue;
		r->running.items[i]->lost_at = now;
		(void)loop_after(r->loop, LOST_GRACE_S + 0.01, stop_lost, r, NULL);
	}
	watch_notices(r);
}

/* Kills the workers and gives their work back: it is not theirs to pay for our end. */
static void on_stop(void *arg)
{
	struct runner *r = arg;

	r->stopping = true;
	(void)sd_notify(0, "STOPPING=1");
	vec_foreach (w, &r->running)
		kill_worker(*w);
	if (!r->running.len)
		loop_exit(r->loop, 0);
}

static double round_s(const struct runner *r)
{
	return 12 * r->poll_s;
}

/* Now and then: control builds that are due on machines that stand idle, work that a drained one holds. */
static void on_round(void *arg)
{
	struct runner *r = arg;
	double move_s = config_f64(r->config, "kperfbot", NULL, "move-after");
	struct err e = { 0 };
	int rc = 0;

	if (r->stopping)
		return;
	for (int i = 0; rc == 0 && r->machines[i]; i++)
		rc = machine_look_after(r->db, r->machines[i],
					config_f64(r->config, "machine", r->machines[i], "recheck"),
					lab_unsure_classes(), &e);
	if (rc == 0)
		rc = machine_repin(r->db, move_s, fmax(move_s, AWAY_ROUNDS * round_s(r)), &e);
	for (int i = 0; rc == 0 && r->machines[i]; i++)
		rc = control_due(r->db, r->machines[i],
				 config_f64(r->config, "machine", r->machines[i], "check-every"),
				 config_i64(r->config, "machine", r->machines[i], "check-boots"),
				 &e);
	if (rc < 0)
		log_warn("could not look after the machines, will try again", lf_err(e));
	watch_notices(r);
}

/* One process per role and state folder: what the owner of this name held belongs to no one. */
static int lock_role(const struct runner *r, int *ret_fd, struct err *e)
{
	const char *state = settings_state_dir(r->config);
	_cleanup_(freep) char *dir = xasprintf("%s/run", state);
	_cleanup_(freep) char *path = xasprintf("%s/%s.lock", dir, r->role->name);
	int fd;
	int rc;

	rc = file_mkdirs(dir, 0755, e);
	if (rc < 0)
		return rc;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		(void)close(fd);
		return err_set(e, ERR_CONFLICT,
			       "role %s already runs with state folder '%s' ('%s' is locked)",
			       r->role->name, state, path);
	}
	*ret_fd = fd;
	return 0;
}

static int sync_config(struct runner *r, struct err *e)
{
	_cleanup_(freep) const char **trees = NULL;
	int rc = 0;

	if (!strcmp(r->role->name, "lab"))
		return machine_sync(r->db, r->config, e);
	if (strcmp(r->role->name, "watch") != 0)
		return 0;
	rc = tree_sync(r->db, r->config, e);
	trees = config_names(r->config, "tree");
	for (size_t i = 0; rc == 0 && trees[i]; i++)
		rc = work_enqueue_name(r->db, "fetch", "tree", trees[i], e);
	if (rc == 0)
		rc = work_purge(r->db, 30, e);
	return rc;
}

char *role_owner(const struct config *c, const char *role)
{
	char host[64] = "localhost";

	(void)gethostname(host, sizeof(host) - 1);
	return xasprintf("%s:%s:%s", host, settings_state_dir(c), role);
}

static int prepare(struct runner *r, struct err *e)
{
	int released = 0;
	int rc;

	r->owner = role_owner(r->config, r->role->name);
	r->lease_s = config_f64(r->config, "kperfbot", NULL, "lease");
	r->poll_s = config_f64(r->config, "kperfbot", NULL, "poll");
	/* Trees that do not answer hold a slot until their deadline; the others must go on. */
	r->slots = !strcmp(r->role->name, "watch") ? 8 : 2;
	if (!strcmp(r->role->name, "build"))
		r->slots = (int)config_i64(r->config, "build", NULL, "parallel");
	if (!strcmp(r->role->name, "lab"))
		r->machines = config_names(r->config, "machine");
	rc = settings_db(r->config, r->role->name, 60, &r->db, e);
	/* From here on the next poll is the next try: the loop must go on renewing and reaping. */
	if (rc == 0)
		db_set_away(r->db, 0);
	if (rc == 0)
		rc = work_release_owner(r->db, r->owner, &released, e);
	if (rc == 0 && released)
		log_info("work of an ended process given back", lf_i64("COUNT", released));
	if (rc == 0)
		rc = sync_config(r, e);
	if (rc == 0)
		rc = db_exec(r->db, "LISTEN work", e);
	return rc;
}

static int add_sources(struct runner *r, struct err *e)
{
	int rc;

	r->renewed = clock_boottime();
	r->listening_fd = -1;
	loop_on_stop(r->loop, on_stop, r);
	rc = loop_every(r->loop, r->poll_s, on_poll, r, e);
	if (rc == 0)
		rc = loop_every(r->loop, r->lease_s / 3, on_heartbeat, r, e);
	if (rc == 0 && r->machines)
		rc = loop_every(r->loop, round_s(r), on_round, r, e);
	watch_notices(r);
	return rc;
}

int role_run(const struct config *c, const char *config_path, const struct role *role,
	     struct err *e)
{
	struct runner r = { .config = c, .config_path = config_path, .role = role };
	_cleanup_(closep) int lock = -1;
	char scope[32];
	int rc;

	(void)snprintf(scope, sizeof(scope), "role-%s", role->name);
	failpoint_scope(scope, 0);
	rc = lock_role(&r, &lock, e);
	if (rc == 0)
		rc = loop_new(&r.loop, e);
	if (rc == 0)
		rc = prepare(&r, e);
	if (rc == 0)
		rc = add_sources(&r, e);
	if (rc == 0) {
		(void)sd_notify(0, "READY=1");
		log_info("role runs");
		on_poll(&r);
		rc = loop_run(r.loop, e);
		/* What was under way goes back at once. */
		(void)work_release_owner(r.db, r.owner, &(int){ 0 }, NULL);
	}
	loop_free(r.loop);
	db_close(r.db);
	free(r.owner);
	free(r.machines);
	vec_done(&r.running);
	return rc;
}
