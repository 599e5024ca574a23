/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/init.h"

#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/agent/facts.h"
#include "runners/agent/http.h"
#include "runners/agent/link.h"
#include "runners/agent/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

/*
 * Rounds of 20 ms of the machine's clock. Under instruction counting that clock jumps ahead whenever
 * the machine idles, so this is generous: the driver has its own deadline on a real clock.
 */
#define PORT_ROUNDS 30000

/* What will-it-scale's own wrapper sets, for tests that open a file per task and CPU. */
#define OPEN_FILES 65536

static void mount_all(json_t *missing)
{
	static const struct {
		const char *type, *dir;
		unsigned long flags;
		const char *data;
	} mounts[] = {
		{ "proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
		{ "sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
		{ "devtmpfs", "/dev", MS_NOSUID, NULL },
		{ "tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777" },
		{ "tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		(void)mkdir(mounts[i].dir, 0755);
		if (mount(mounts[i].type, mounts[i].dir, mounts[i].type, mounts[i].flags,
			  mounts[i].data) == 0 ||
		    errno == EBUSY)
			continue;
		(void)fprintf(stderr, "kperfbot-agent: cannot mount %s on %s: %s\n", mounts[i].type,
			      mounts[i].dir, strerror(errno));
		(void)json_array_append_new(missing, json_string(mounts[i].dir));
	}
}

/* The port called INIT_PORT_NAME; without devtmpfs its node is made here. -1 if there is none. */
static int port_try(void)
{
	DIR *d = opendir("/sys/class/virtio-ports");
	struct dirent *de;
	int fd = -1;

	while (d && fd < 0 && (de = readdir(d))) {
		_cleanup_(freep) char *name = NULL, *number = NULL, *node = NULL, *path = NULL;
		unsigned long major, minor;
		char *end;

		if (de->d_name[0] == '.')
			continue;
		path = xasprintf("/sys/class/virtio-ports/%s/name", de->d_name);
		name = facts_read_line(path);
		if (!name || strcmp(name, INIT_PORT_NAME) != 0)
			continue;
		node = xasprintf("/dev/%s", de->d_name);
		fd = open(node, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			break;
		free(path);
		path = xasprintf("/sys/class/virtio-ports/%s/dev", de->d_name);
		number = facts_read_line(path);
		if (!number)
			continue;
		major = strtoul(number, &end, 10);
		minor = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
		(void)mknod(node, S_IFCHR | 0600, makedev((unsigned)major, (unsigned)minor));
		fd = open(node, O_RDWR | O_CLOEXEC);
	}
	if (d)
		(void)closedir(d);
	return fd;
}

static int port_open(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i < PORT_ROUNDS; i++) {
		int fd = port_try();

		if (fd >= 0)
			return fd;
		if (i == 50)
			(void)fprintf(stderr, "kperfbot-agent: waiting for port %s\n",
				      INIT_PORT_NAME);
		(void)nanosleep(&pause, NULL);
	}
	(void)fprintf(stderr, "kperfbot-agent: port: no virtio-serial port %s\n", INIT_PORT_NAME);
	return -1;
}

/* Where the line to the driver is, when it is no virtio-serial port; NULL otherwise, free() it. */
static char *find_url(void)
{
	_cleanup_(freep) char *line = facts_read_line("/proc/cmdline");
	char *save = NULL;

	for (char *w = line ? strtok_r(line, " ", &save) : NULL; w;
	     w = strtok_r(NULL, " ", &save)) {
		if (!strncmp(w, "kperfbot.url=", 13))
			return xstrdup(w + 13);
	}
	return NULL;
}

/* The end of PID 1 is a kernel panic, which would look like the kernel's fault: never return. */
static void power_off(void)
{
	sync();
	(void)reboot(RB_POWER_OFF);
	(void)fprintf(stderr, "kperfbot-agent: power-off failed: %s\n", strerror(errno));
	for (;;)
		(void)pause();
}

static void supervise(int port, pid_t server)
{
	_cleanup_(freep) char *text = NULL;
	struct link l = { .in = port, .out = port };
	int status = 0;
	pid_t pid;

	do {
		pid = wait(&status);
	} while (pid != server && (pid > 0 || errno == EINTR));
	if (pid == server && WIFSIGNALED(status)) {
		text = xasprintf("the agent died of signal %d", WTERMSIG(status));
		(void)link_fault(&l, "agent", text);
		(void)proto_frame_add(&l.out_buf, PROTO_BYE, NULL, 0, NULL);
		(void)link_flush(&l, NULL);
	}
	link_done(&l);
}

/* What lies between the driver and the benchmark must be the last to go when memory runs out. */
static void protect(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "we");

	if (f) {
		(void)fputs("-1000", f);
		(void)fclose(f);
	}
}

static void serve_port(struct serve_opts *opts)
{
	int port = port_open();
	pid_t pid;

	if (port < 0)
		return;
	/* The talking is done in a child, so that its crash is a message and no kernel panic. */
	pid = fork();
	if (pid == 0) {
		opts->in = opts->out = port;
		protect();
		_exit(serve(opts));
	}
	if (pid > 0)
		supervise(port, pid);
	else
		(void)fprintf(stderr, "kperfbot-agent: could not fork: %s\n", strerror(errno));
}

void init_main(void)
{
	const struct rlimit files = { .rlim_cur = OPEN_FILES, .rlim_max = OPEN_FILES };
	_cleanup_(freep) char *url = NULL;
	struct serve_opts opts = {
		.workloads = "/bin/kperfbot-workloads",
		.whole_machine = true,
		.not_set_up = json_array(),
	};

	mount_all(opts.not_set_up);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	(void)fprintf(stderr, "kperfbot-agent: version %s\n", KPERFBOT_VERSION);
	url = find_url();
	if (url) {
		protect();
		(void)http_serve(url, &opts, serve);
	} else {
		serve_port(&opts);
	}
	power_off();
	for (;;)
		(void)pause();
}
