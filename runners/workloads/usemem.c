/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/usemem.h"

#include "runners/workloads/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REMAP_GROWTH 10

static struct usemem usemem;

void usemem_gate_wait(const struct usemem *u, int gate)
{
	const struct usemem_gate *g = &u->gates[gate];
	struct pollfd p = { .fd = g->go[0], .events = POLLIN };

	must(write(g->ready[1], "", 1) == 1, "ready");
	/* The byte is never read: it is there for all tasks. */
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

static void gate_init(struct usemem_gate *g)
{
	must(pipe2(g->ready, O_CLOEXEC) == 0 && pipe2(g->go, O_CLOEXEC) == 0, "pipe");
}

static unsigned long task_count(const struct usemem_opts *o)
{
	return o->nproc * (o->threads ? o->threads : 1);
}

static void *thread_main(void *arg)
{
	usemem_task(&usemem, (unsigned long)(uintptr_t)arg);
	return NULL;
}

static void process_main(unsigned long nr)
{
	unsigned long threads = usemem.opts.threads;
	pthread_t *ids;

	if (threads == 0) {
		usemem_task(&usemem, nr);
		_exit(0);
	}
	ids = calloc(threads, sizeof(*ids));
	must(ids, "threads");
	for (unsigned long i = 0; i < threads; i++) {
		int r = pthread_create(&ids[i], NULL, thread_main,
				       (void *)(uintptr_t)(nr * threads + i));

		if (r != 0)
			die_code(r, "pthread_create");
	}
	for (unsigned long i = 0; i < threads; i++)
		(void)pthread_join(ids[i], NULL);
	_exit(0);
}

static void processes_start(pid_t *pids)
{
	pid_t parent = getpid();

	for (unsigned long i = 0; i < usemem.opts.nproc; i++) {
		pids[i] = fork();
		must(pids[i] >= 0, "fork");
		if (pids[i] > 0)
			continue;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		process_main(i);
	}
}

static void kill_all(const pid_t *pids)
{
	for (unsigned long i = 0; i < usemem.opts.nproc; i++)
		if (pids[i] > 0)
			(void)kill(pids[i], SIGKILL);
}

/* Takes the status of processes that ended. Return: false if one of them failed. */
static bool reap(pid_t *pids, unsigned long *left, int flags)
{
	bool good = true;
	int status;
	pid_t pid;

	while (*left > 0 && (pid = waitpid(-1, &status, flags)) != 0) {
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		for (unsigned long i = 0; i < usemem.opts.nproc; i++) {
			if (pids[i] != pid)
				continue;
			pids[i] = 0;
			*left -= 1;
		}
		if (WIFSIGNALED(status))
			(void)fprintf(stderr, "usemem: a task was killed by signal %d\n",
				      WTERMSIG(status));
		good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return good;
}

/*
 * Let all tasks through a gate when the last one has come. A task that died before would keep the
 * others there for ever.
 */
static bool gate_open(struct usemem_gate *g, pid_t *pids, unsigned long *left)
{
	unsigned long want = task_count(&usemem.opts);
	struct pollfd p = { .fd = g->ready[0], .events = POLLIN };
	char buf[256];

	while (want > 0) {
		ssize_t n = poll(&p, 1, 100);

		if (n > 0) {
			n = read(g->ready[0], buf, want < sizeof(buf) ? want : sizeof(buf));
			if (n > 0)
				want -= (unsigned long)n;
		} else if (!reap(pids, left, WNOHANG)) {
			return false;
		}
	}
	must(write(g->go[1], "", 1) == 1, "go");
	return true;
}

static int open_file(const struct usemem_opts *o)
{
	int flags = (o->readonly && !o->open_rw ? O_RDONLY : O_RDWR) | O_CLOEXEC;
	int fd;

	if (o->anonymous || o->use_malloc || o->size == 0)
		return -1;
	if (o->memfd) {
		fd = memfd_create("usemem", MFD_CLOEXEC);
		must(fd >= 0 && ftruncate(fd, (off_t)(o->offset + o->size)) == 0, "memfd");
		return fd;
	}
	/* A private mapping of /dev/zero is anonymous memory, also where there is no /dev. */
	if (!o->file)
		return open("/dev/zero", flags);
	fd = open(o->file, flags | O_CREAT, 0644);
	if (fd < 0)
		die("%s: %m", o->file);
	return fd;
}

static void preallocate(void)
{
	const struct usemem_opts *o = &usemem.opts;
	void *p;

	if (!o->prealloc || o->size == 0)
		return;
	usemem.prealloc = usemem_map(&usemem, o->size, o->offset);
	if (!o->remap)
		return;
	if (o->size > SIZE_MAX / REMAP_GROWTH)
		die("mremap to %d times the size is too large", REMAP_GROWTH);
	p = mremap(usemem.prealloc, o->size, o->size * REMAP_GROWTH, MREMAP_MAYMOVE);
	must(p != MAP_FAILED, "mremap");
	usemem.prealloc = p;
}

static void print_init_time(void)
{
	uint64_t usecs = usemem_usecs(&usemem.start);

	(void)printf("the initialization time is %llu secs %llu usecs\n",
		     (unsigned long long)(usecs / 1000000), (unsigned long long)(usecs % 1000000));
	(void)fflush(stdout);
	(void)clock_gettime(CLOCK_MONOTONIC, &usemem.start);
}

/* For tasks to wait for; it must not kill those that have not come so far. */
static void block_signal(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	must(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0, "signal mask");
}

int usemem_main(int argc, char **argv)
{
	struct usemem_opts *o = &usemem.opts;
	unsigned long left;
	bool good;
	pid_t *pids;

	if (!usemem_options(argc, argv, o))
		return 1;
	if (o->bind > 0 && (long)o->bind >= sysconf(_SC_NPROCESSORS_ONLN)) {
		(void)fprintf(stderr, "usemem: --bind %lu is not below the number of CPUs\n",
			      o->bind);
		return 1;
	}
	usemem.fd = open_file(o);
	if (o->wait_signal)
		block_signal();
	for (size_t i = 0; i < 2; i++)
		gate_init(&usemem.gates[i]);
	pids = calloc(o->nproc, sizeof(*pids));
	must(pids, "processes");
	(void)clock_gettime(CLOCK_MONOTONIC, &usemem.start);
	preallocate();
	if (o->init_time)
		print_init_time();
	processes_start(pids);
	left = o->nproc;
	/* Without work there is nothing that --sync-rw could wait with. */
	good = (o->sync_rw && o->size == 0) || gate_open(&usemem.gates[GATE_START], pids, &left);
	if (good && o->sync_free)
		good = gate_open(&usemem.gates[GATE_FREE], pids, &left);
	if (!good)
		kill_all(pids);
	good &= reap(pids, &left, 0);
	free(pids);
	return good ? 0 : 1;
}
