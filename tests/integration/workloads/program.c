/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/integration/workloads/program.h"

#include "tests/test.h"

#include <fcntl.h>
#include <regex.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void split(char *words, char **argv, size_t max)
{
	char *save = NULL;
	size_t n = 0;

	for (char *w = strtok_r(words, " ", &save); w && n < max - 1;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	argv[n] = NULL;
}

/* Appending: writes of several threads to one position would overwrite one another. */
static int output_file(void)
{
	int fd = memfd_create("output", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
	return fd;
}

void program_start(struct program *p, const char *line, int cpu)
{
	char words[256];
	char *argv[32];
	cpu_set_t set;

	*p = (struct program){ 0 };
	assert_true(strlen(line) < sizeof(words));
	memcpy(words, line, strlen(line) + 1);
	split(words, argv, ARRAY_SIZE(argv));
	p->out_fd = output_file();
	p->err_fd = output_file();
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid > 0)
		return;
	/* Many of these run at once, and other tests beside them. */
	(void)!nice(10);
	CPU_ZERO(&set);
	if (cpu >= 0) {
		CPU_SET((size_t)cpu, &set);
		(void)sched_setaffinity(0, sizeof(set), &set);
	}
	(void)dup2(p->out_fd, STDOUT_FILENO);
	(void)dup2(p->err_fd, STDERR_FILENO);
	(void)execv(WORKLOADS, argv);
	_exit(127);
}

static void read_all(int fd, struct strbuf *b)
{
	char buf[4096];
	ssize_t n;

	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(b, buf, (size_t)n);
	(void)close(fd);
}

void program_wait(struct program *p)
{
	assert_true(waitpid(p->pid, &p->status, 0) == p->pid);
	read_all(p->out_fd, &p->out);
	read_all(p->err_fd, &p->err);
}

void program_done(struct program *p)
{
	strbuf_done(&p->out);
	strbuf_done(&p->err);
}

int program_children(pid_t pid, pid_t *ret, int max)
{
	char path[64], text[4096];
	size_t len = 0;
	char *save = NULL;
	FILE *f;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	(void)fclose(f);
	for (char *w = strtok_r(text, " ", &save); w && n < max; w = strtok_r(NULL, " ", &save))
		ret[n++] = (pid_t)strtol(w, NULL, 10);
	return n;
}

void program_await_children(pid_t pid, pid_t *ret, int n)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i < 500; i++) {
		if (program_children(pid, ret, n) == n)
			return;
		(void)nanosleep(&pause, NULL);
	}
	fail_msg("process %d has no %d children after 10 s", (int)pid, n);
}

int matches(const char *text, const char *regex)
{
	_cleanup_(freep) char *whole = xasprintf("^(%s)$", regex);
	regex_t re;
	int r;

	assert_int_equal(regcomp(&re, whole, REG_EXTENDED | REG_NOSUB), 0);
	r = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return r;
}

size_t count_lines(const char *text, const char *regex)
{
	_cleanup_(freep) char *copy = xstrdup(text);
	char *save = NULL;
	size_t n = 0;

	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		n += (size_t)matches(l, regex);
	return n;
}
