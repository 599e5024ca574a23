/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases that move, merge or reserve memory. */
#include "runners/workloads/applets.h"
#include "runners/workloads/harness.h"
#include "runners/workloads/nodes.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_HUGEPAGES "/proc/sys/vm/nr_hugepages"
#define SWAPIN_MAX   4096
#define PUSHERS	     2

static size_t two_nodes(int *nodes, size_t max)
{
	size_t n = nodes_read(nodes, max);

	if (n < 2)
		die("this case needs 2 NUMA nodes with memory, and the machine has %zu", n);
	return n;
}

/* Memory in which every page has been written. */
static char *map_written(size_t bytes, int value)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	memset(p, value, bytes);
	return p;
}

/* A process that holds memory of all nodes; returns when it has all of it. */
static pid_t start_holder(size_t bytes, const struct node_mask *all)
{
	int ready[2];
	pid_t pid;
	char c;

	must(pipe2(ready, O_CLOEXEC) == 0, "pipe");
	pid = child_start();
	if (pid == 0) {
		memory_policy(MPOL_INTERLEAVE, all);
		(void)map_written(bytes, 1);
		must(write(ready[1], "", 1) == 1, "ready");
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		die("the process that holds the memory ended");
	(void)close(ready[0]);
	return pid;
}

int applet_migrate_pages(int argc, char **argv)
{
	uint64_t runtime_s, count = 0, usecs;
	struct node_mask all = { 0 };
	int nodes[NODES_MAX];
	struct timespec start;
	size_t bytes, n;
	pid_t holder;

	if (argc != 3 || !bytes_parse(argv[1], &bytes) || bytes == 0 ||
	    !count_parse(argv[2], INT_MAX, &runtime_s))
		return APPLET_USAGE;
	n = two_nodes(nodes, NODES_MAX);
	for (size_t i = 0; i < n; i++)
		node_mask_set(&all, nodes[i]);
	holder = start_holder(bytes, &all);
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		struct node_mask to = { 0 };

		node_mask_set(&to, nodes[count % n]);
		must(syscall(SYS_migrate_pages, holder, (unsigned long)NODES_MAX, all.bits,
			     to.bits) >= 0,
		     "migrate_pages");
		count++;
		usecs = usecs_since(&start);
	} while (usecs < runtime_s * 1000000);
	(void)kill(holder, SIGKILL);
	print_text("%llu * %zu bytes migrated, %llu usecs, %llu MB/s\n", (unsigned long long)count,
		   bytes, (unsigned long long)usecs,
		   (unsigned long long)((unsigned __int128)count * bytes / usecs));
	return 0;
}

int applet_move_pages(int argc, char **argv)
{
	bool by_mbind = option_take(&argc, &argv, "--mbind");
	struct node_mask masks[2] = { 0 };
	int nodes[NODES_MAX];
	size_t bytes;
	char *p;

	if (argc != 2 || !bytes_parse(argv[1], &bytes) || bytes == 0)
		return APPLET_USAGE;
	(void)two_nodes(nodes, NODES_MAX);
	for (size_t i = 0; i < 2; i++)
		node_mask_set(&masks[i], nodes[i]);
	memory_policy(MPOL_BIND, &masks[0]);
	p = map_written(bytes, 1);
	for (int i = 0; i < 2; i++) {
		struct node_mask *from = &masks[i], *to = &masks[!i];

		if (by_mbind)
			must(syscall(SYS_mbind, p, bytes, MPOL_BIND, to->bits,
				     (unsigned long)NODES_MAX, MPOL_MF_MOVE) == 0,
			     "mbind");
		else
			must(syscall(SYS_migrate_pages, 0, (unsigned long)NODES_MAX, from->bits,
				     to->bits) >= 0,
			     "migrate_pages");
	}
	return 0;
}

static void sleep_seconds(uint64_t seconds)
{
	struct timespec left = { .tv_sec = (time_t)seconds };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void be_merged(size_t bytes, bool huge, uint64_t seconds)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	if (huge)
		must(madvise(p, bytes, MADV_HUGEPAGE) == 0, "transparent huge pages");
	memset(p, 1, bytes);
	must(madvise(p, bytes, MADV_MERGEABLE) == 0, "merging of pages (KSM)");
	sleep_seconds(seconds);
	must(madvise(p, bytes, MADV_UNMERGEABLE) == 0, "parting of pages (KSM)");
}

int applet_ksm(int argc, char **argv)
{
	bool huge = option_take(&argc, &argv, "--huge");
	uint64_t n, seconds;
	size_t bytes;

	if (argc != 4 || !count_parse(argv[1], SWAPIN_MAX, &n) || n == 0 ||
	    !bytes_parse(argv[2], &bytes) || bytes == 0 || !count_parse(argv[3], INT_MAX, &seconds))
		return APPLET_USAGE;
	for (uint64_t i = 0; i < n; i++) {
		if (child_start() > 0)
			continue;
		be_merged(bytes, huge, seconds);
		_exit(0);
	}
	return children_wait(n);
}

static void put_hugepages(uint64_t n)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)n);
	int fd = open(NR_HUGEPAGES, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		die(NR_HUGEPAGES ": %m");
	(void)close(fd);
}

static uint64_t get_hugepages(void)
{
	unsigned long long n = 0;
	FILE *f = fopen(NR_HUGEPAGES, "re");
	char text[32];

	if (!f)
		die(NR_HUGEPAGES ": %m");
	if (fgets(text, sizeof(text), f))
		n = strtoull(text, NULL, 10);
	(void)fclose(f);
	return n;
}

int applet_hugetlb(int argc, char **argv)
{
	uint64_t n, got;

	if (argc != 2 || !count_parse(argv[1], UINT32_MAX, &n) || n == 0)
		return APPLET_USAGE;
	put_hugepages(n);
	got = get_hugepages();
	put_hugepages(0);
	/* Memory in pieces gives fewer, and then less work was done. */
	if (got < n)
		die("only %llu of %llu huge pages could be made", (unsigned long long)got,
		    (unsigned long long)n);
	return 0;
}

/* What usemem -W said so far, and which processes wait for the signal. */
struct readers {
	FILE *out;
	pid_t pids[SWAPIN_MAX];
	size_t n;
};

/* Runs usemem with these words, its output in a pipe or away. */
static pid_t start_usemem(char **argv, int argc, int out)
{
	pid_t pid = child_start();
	int r = 1;

	if (pid > 0)
		return pid;
	must(dup2(out, STDOUT_FILENO) >= 0, "output");
	(void)workload_main(argc, argv, &r);
	_exit(r);
}

static void await_readers(struct readers *rs, size_t n)
{
	char line[256];
	int pid;

	while (rs->n < n && fgets(line, sizeof(line), rs->out)) {
		/* NOLINTNEXTLINE(cert-err34-c): the text before says that it is a number */
		if (sscanf(line, "Read Process %d is waiting signal", &pid) == 1)
			rs->pids[rs->n++] = pid;
		else
			print_text("%s", line);
	}
	if (rs->n < n)
		die("%zu of %zu readers wait for their signal", rs->n, n);
}

static int push_out(const char *bytes)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char size[32];
	char *argv[] = { (char[]){ "usemem" }, size, NULL };

	must(null >= 0, "/dev/null");
	(void)snprintf(size, sizeof(size), "%s", bytes);
	for (int i = 0; i < PUSHERS; i++)
		(void)start_usemem(argv, 2, null);
	return children_wait(PUSHERS);
}

int applet_swapin(int argc, char **argv)
{
	char *words[] = {
		(char[]){ "usemem" }, (char[]){ "-W" }, (char[]){ "-n" }, NULL, NULL, NULL
	};
	static struct readers rs;
	char line[256];
	size_t bytes;
	uint64_t n;
	int out[2];

	if (argc != 4 || !count_parse(argv[1], SWAPIN_MAX, &n) || n == 0 ||
	    !bytes_parse(argv[2], &bytes) || bytes == 0 || !bytes_parse(argv[3], &bytes))
		return APPLET_USAGE;
	words[3] = argv[1];
	words[4] = argv[2];
	must(pipe2(out, O_CLOEXEC) == 0, "pipe");
	(void)start_usemem(words, 5, out[1]);
	(void)close(out[1]);
	rs.out = fdopen(out[0], "r");
	must(rs.out, "pipe");
	await_readers(&rs, n);
	if (push_out(argv[3]) != 0)
		die("the processes that push the memory out failed");
	for (size_t i = 0; i < rs.n; i++)
		(void)kill(rs.pids[i], SIGUSR1);
	while (fgets(line, sizeof(line), rs.out))
		print_text("%s", line);
	return children_wait(1);
}
