/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kperfbotd: the supervisor of the roles; with --role one role; with --worker one piece of work.
 * The supervisor makes and runs the private database, migrates it, and starts a process per role,
 * each of which is this program again.
 */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/log.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/settings.h"
#include "bot/jobs/worker.h"
#include "bot/mail/compose.h"
#include "bot/supervisor.h"
#include "web/web.h"

#include <getopt.h>
#include <string.h>

#define DEFAULT_CONFIG "/etc/kperfbot/kperfbot.conf"

struct arguments {
	const char *config;
	const char *roles;
	const char *role;
	const char *work;
	const char *fence;
	const char *machine;
	bool verbose;
};

static void usage(FILE *to)
{
	(void)fprintf(
		to,
		"usage: kperfbotd [--config=FILE] [--roles=ROLE,…] [-v]\n\n"
		"Runs the roles (default all: %s),\n"
		"one process each, and the private database unless kperfbot.database is set.\n\n"
		"  -C, --config=FILE  configuration (default %s)\n"
		"      --roles=LIST   only these roles\n"
		"  -v, --verbose      log more\n"
		"      --help, --version\n",
		role_names(), DEFAULT_CONFIG);
}

/* Return: 0 go on, 1 done, -1 wrong usage. */
static int read_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = { { "config", required_argument, NULL, 'C' },
						 { "roles", required_argument, NULL, 'r' },
						 { "role", required_argument, NULL, 'R' },
						 { "worker", required_argument, NULL, 'w' },
						 { "fence", required_argument, NULL, 'f' },
						 { "machine", required_argument, NULL, 'm' },
						 { "verbose", no_argument, NULL, 'v' },
						 { "help", no_argument, NULL, 'h' },
						 { "version", no_argument, NULL, 'V' },
						 { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "C:v", options, NULL)) != -1) { /* NOLINT */
		switch (c) {
		case 'C':
			a->config = optarg;
			break;
		case 'r':
			a->roles = optarg;
			break;
		case 'R':
			a->role = optarg;
			break;
		case 'w':
			a->work = optarg;
			break;
		case 'f':
			a->fence = optarg;
			break;
		case 'm':
			a->machine = optarg;
			break;
		case 'v':
			a->verbose = true;
			break;
		case 'h':
			usage(stdout);
			return 1;
		case 'V':
			(void)printf("kperfbotd %s\n", KPERFBOT_VERSION);
			return 1;
		default:
			usage(stderr);
			return -1;
		}
	}
	if (optind < argc) {
		(void)fprintf(stderr, "kperfbotd: unexpected argument '%s'\n", argv[optind]);
		return -1;
	}
	return 0;
}

static int run_worker(const struct config *c, const struct arguments *a, struct err *e)
{
	struct worker_options o = { .config_path = a->config, .machine = a->machine };
	int r;

	r = parse_i64(a->work, 1, INT64_MAX, &o.work, e);
	if (r == 0)
		r = parse_i64(a->fence ? a->fence : "", 1, INT64_MAX, &o.fence, e);
	if (r < 0)
		return r;
	compose_setup();
	return worker_run(c, &o);
}

static int run_role(const struct config *c, const struct arguments *a, struct err *e)
{
	const struct role *role = role_find(a->role);

	if (!role)
		return err_set(e, ERR_INVAL, "there is no role '%s'; roles are %s", a->role,
			       role_names());
	if (!role->kinds[0]) {
		_cleanup_(freep) char *conninfo = settings_conninfo(c);
		struct web_options o = { .config = c, .conninfo = conninfo };

		return web_run(&o, e);
	}
	return role_run(c, a->config, role, e);
}

static int run(const struct arguments *a, struct err *e)
{
	_cleanup_(config_freep) struct config *c = NULL;
	int r;

	r = config_load(a->config, &c, e);
	if (r < 0)
		return r;
	if (a->work)
		return run_worker(c, a, e);
	if (a->role)
		return run_role(c, a, e);
	return supervisor_run(c, a->config, a->roles, a->verbose, e);
}

int main(int argc, char **argv)
{
	struct arguments a = { .config = DEFAULT_CONFIG };
	_cleanup_(freep) char *config = NULL;
	struct err e = { 0 };
	int r;

	r = read_arguments(argc, argv, &a);
	if (r != 0)
		return r < 0 ? 129 : 0;
	/* Children run elsewhere. */
	config = realpath(a.config, NULL);
	if (config)
		a.config = config;
	log_setup(a.work   ? "worker"
		  : a.role ? a.role
			   : "supervisor",
		  a.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	r = run(&a, &e);
	if (r < 0) {
		log_error(a.role ? "role ended" : "cannot run", lf_err(e));
		return a.work ? 1 : 2;
	}
	return r;
}
