/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/guard.h"

#include "bot/base/err.h"
#include "runners/agent/link.h"
#include "runners/agent/settings.h"
#include "runners/agent/stop.h"
#include "runners/agent/tree.h"
#include "runners/agent/workdir.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Of folders that were left by agents that were killed, these may be in the making. */
#define FOLDER	     "kperfbot-agent"
#define RESCUE_AGE_S 60

/* Waits for the server; what else ends here are processes that ran away from it. */
static int wait_for(pid_t server)
{
	bool told = false;
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, 0);

		if (pid == server)
			return status;
		if (pid < 0 && errno != EINTR)
			return -1;
		if (stop_signal() && !told) {
			(void)kill(server, SIGTERM);
			told = true;
		}
	}
}

static void say(const struct serve_opts *opts, int sig)
{
	_cleanup_(freep) char *text = xasprintf("the agent died of signal %d", sig);
	struct link l = { .in = opts->in, .out = opts->out };

	(void)link_fault(&l, "agent", text);
	(void)proto_frame_add(&l.out_buf, PROTO_BYE, NULL, 0, NULL);
	(void)link_flush(&l, NULL);
	link_done(&l);
}

int guard_serve(const struct serve_opts *opts)
{
	_cleanup_(freep) char *dir = workdir_make(FOLDER, NULL);
	_cleanup_(closep) int lock = dir ? workdir_lock(dir) : -1;
	const struct tree all = { 0 };
	pid_t server;
	int status;

	(void)signal(SIGPIPE, SIG_IGN);
	stop_install();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)settings_rescue(SETTINGS_RESTORE_FILE);
	(void)workdir_rescue(FOLDER, RESCUE_AGE_S);
	server = fork();
	if (server < 0) {
		(void)fprintf(stderr, "kperfbot-agent: could not fork: %s\n", strerror(errno));
		return 1;
	}
	if (server == 0) {
		/* The lock ends with the one that cleans up. */
		closep(&lock);
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* All folders of the agent are in there, so they can be found when it is killed. */
		if (dir)
			(void)setenv("TMPDIR", dir, 1);
		_exit(serve(opts));
	}
	status = wait_for(server);
	(void)tree_kill(&all);
	if (dir)
		(void)workdir_remove(dir, NULL);
	(void)settings_rescue(SETTINGS_RESTORE_FILE);
	if (WIFSIGNALED(status))
		say(opts, WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
