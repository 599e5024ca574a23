/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what processes and threads wait for one another with. */
#include "runners/workloads/raw.h"
#include "runners/workloads/tests.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline __attribute__((always_inline)) void write_byte(int fd)
{
	char c = 0;
	long n;

	do
		n = raw_call(SYS_write, fd, (long)&c, 1);
	while (n == -EINTR);
	if (__builtin_expect(n != 1, 0))
		die_code(n < 0 ? (int)-n : EPIPE, "write");
}

/* Return: false when nobody is left to write one. */
static inline __attribute__((always_inline)) bool read_byte_or_end(int fd)
{
	char c;
	long n;

	do
		n = raw_call(SYS_read, fd, (long)&c, 1);
	while (n == -EINTR);
	if (__builtin_expect(n < 0, 0))
		die_code((int)-n, "read");
	return n == 1;
}

static inline __attribute__((always_inline)) void read_byte(int fd)
{
	if (__builtin_expect(!read_byte_or_end(fd), 0))
		die("read: the other side has ended");
}

/*
 * fd[0]: to the helper, fd[1]: back. apart: two processes; each closes the ends of the other one, so
 * that it sees its end.
 */
struct ping_pong {
	int fd[2][2];
	bool apart;
};

static void pong(void *arg)
{
	struct ping_pong *p = arg;

	if (p->apart) {
		(void)close(p->fd[0][1]);
		(void)close(p->fd[1][0]);
	}
	/* The end of its task is not the helper's to report. */
	while (read_byte_or_end(p->fd[0][0]))
		write_byte(p->fd[1][1]);
	_exit(0);
}

WIS_RUN(context_switch1)
{
	struct ping_pong p;

	(void)nr;
	must(pipe(p.fd[0]) == 0 && pipe(p.fd[1]) == 0, "pipe");
	p.apart = !wis_threads();
	wis_helper(pong, &p);
	if (p.apart) {
		(void)close(p.fd[0][0]);
		(void)close(p.fd[1][1]);
	}
	for (;;) {
		write_byte(p.fd[0][1]);
		read_byte(p.fd[1][0]);
		*count += 2;
	}
}

WIS_RUN(eventfd1)
{
	uint64_t v = 1;
	int fd = eventfd(0, 0);

	(void)nr;
	must(fd >= 0, "eventfd");
	for (;;) {
		v = 1;
		must(write(fd, &v, sizeof(v)) == sizeof(v), "write");
		must(read(fd, &v, sizeof(v)) == sizeof(v), "read");
		*count += 1;
	}
}

static void futex_wake_loop(volatile uint64_t *count, int flag)
{
	uint32_t word = 0;

	for (;;) {
		must(syscall(SYS_futex, &word, FUTEX_WAKE | flag, 1, NULL, NULL, 0) == 0,
		     "futex wake");
		*count += 1;
	}
}

static void futex_wait_loop(volatile uint64_t *count, int flag)
{
	uint32_t word = 0;

	for (;;) {
		must(syscall(SYS_futex, &word, FUTEX_WAIT | flag, 1, NULL, NULL, 0) < 0 &&
			     errno == EAGAIN,
		     "futex wait");
		*count += 1;
	}
}

WIS_RUN(futex1)
{
	(void)nr;
	futex_wake_loop(count, 0);
}

WIS_RUN(futex2)
{
	(void)nr;
	futex_wait_loop(count, 0);
}

WIS_RUN(futex3)
{
	(void)nr;
	futex_wake_loop(count, FUTEX_PRIVATE_FLAG);
}

WIS_RUN(futex4)
{
	(void)nr;
	futex_wait_loop(count, FUTEX_PRIVATE_FLAG);
}

WIS_RUN(getppid1)
{
	(void)nr;
	for (;;) {
		(void)raw_call(SYS_getppid, 0, 0, 0);
		*count += 1;
	}
}

static void echo_loop(volatile uint64_t *count, int in, int out)
{
	for (;;) {
		write_byte(in);
		read_byte(out);
		*count += 1;
	}
}

WIS_RUN(pipe1)
{
	int fd[2];

	(void)nr;
	must(pipe(fd) == 0, "pipe");
	echo_loop(count, fd[1], fd[0]);
}

WIS_RUN(unix1)
{
	int fd[2];

	(void)nr;
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0, "socketpair");
	echo_loop(count, fd[0], fd[1]);
}

WIS_RUN(posix_semaphore1)
{
	sem_t sem;

	(void)nr;
	must(sem_init(&sem, 0, 1) == 0, "sem_init");
	for (;;) {
		(void)sem_wait(&sem);
		(void)sem_post(&sem);
		*count += 1;
	}
}

static pthread_mutex_t global_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t global_variable;
static __thread volatile uint64_t thread_variable;

static void mutex_loop(volatile uint64_t *count, pthread_mutex_t *m, volatile uint64_t *variable)
{
	for (;;) {
		(void)pthread_mutex_lock(m);
		if (variable)
			*variable += 1;
		(void)pthread_mutex_unlock(m);
		*count += 1;
	}
}

WIS_RUN(pthread_mutex1)
{
	(void)nr;
	mutex_loop(count, &global_mutex, NULL);
}

WIS_RUN(pthread_mutex2)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	(void)nr;
	mutex_loop(count, &own, NULL);
}

WIS_RUN(pthread_mutex3)
{
	(void)nr;
	mutex_loop(count, &global_mutex, &global_variable);
}

WIS_RUN(pthread_mutex4)
{
	volatile uint64_t own = 0;

	(void)nr;
	mutex_loop(count, &global_mutex, &own);
}

WIS_RUN(pthread_mutex5)
{
	(void)nr;
	mutex_loop(count, &global_mutex, &thread_variable);
}

WIS_RUN(sched_yield)
{
	(void)nr;
	for (;;) {
		(void)sched_yield();
		*count += 1;
	}
}

static void on_signal(int sig)
{
	(void)sig;
}

WIS_RUN(signal1)
{
	struct sigaction sa = { .sa_handler = on_signal };

	(void)nr;
	must(sigaction(SIGUSR1, &sa, NULL) == 0, "sigaction");
	for (;;) {
		(void)raise(SIGUSR1);
		*count += 1;
	}
}
