/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/loop.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct loop *loop;
static int calls;

static int make_loop(void **state)
{
	(void)state;
	calls = 0;
	return loop_new(&loop, NULL);
}

static int drop_loop(void **state)
{
	(void)state;
	loop_free(loop);
	loop = NULL;
	return 0;
}

static void run(int want)
{
	struct err e = { 0 };
	int r = loop_run(loop, &e);

	if (r != want)
		fail_msg("loop ended with %d (%s), not %d", r, e.msg, want);
}

static void give_up(void *arg)
{
	(void)arg;
	loop_exit(loop, 99);
}

/* No test hangs: 20 s end the loop with 99. */
static void limit(void)
{
	struct err e = { 0 };

	assert_ok(loop_after(loop, 20, give_up, NULL, &e), &e);
}

static void count_to_three(void *arg)
{
	(void)arg;
	if (++calls == 3)
		loop_exit(loop, 3);
}

static void a_timer_comes_again_and_again(void **state)
{
	struct err e = { 0 };

	(void)state;
	limit();
	assert_ok(loop_every(loop, 0.01, count_to_three, NULL, &e), &e);
	run(3);
	assert_int_equal(calls, 3);
}

static void again_later(void *arg)
{
	(void)arg;
	if (++calls == 3)
		loop_exit(loop, 5);
	else
		(void)loop_after(loop, 0.01, again_later, NULL, NULL);
}

static void a_single_timer_comes_once_and_may_set_the_next(void **state)
{
	struct err e = { 0 };

	(void)state;
	limit();
	assert_ok(loop_after(loop, 0, again_later, NULL, &e), &e);
	run(5);
	assert_int_equal(calls, 3);
}

static int last_status;

static void on_child(void *arg, pid_t pid, int status)
{
	assert_int_equal(pid, *(pid_t *)arg);
	last_status = status;
	loop_exit(loop, 0);
}

static void start(pid_t *pid, const char *cmd)
{
	const char *argv[] = { "sh", "-c", cmd, NULL };
	struct child_opts o = CHILD_OPTS_INIT;
	struct err e = { 0 };

	o.argv = argv;
	assert_ok(child_spawn(&o, pid, &e), &e);
}

static void ends_of_children_are_told_with_their_status(void **state)
{
	struct err e = { 0 };
	pid_t pid;

	(void)state;
	limit();
	start(&pid, "exit 7");
	(void)usleep(50000); /* perhaps ended before it is watched */
	assert_ok(loop_child(loop, pid, on_child, &pid, &e), &e);
	run(0);
	assert_true(WIFEXITED(last_status));
	assert_int_equal(WEXITSTATUS(last_status), 7);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
}

static void a_killed_child_is_told_from_one_that_ended(void **state)
{
	struct err e = { 0 };
	pid_t pid;

	(void)state;
	limit();
	start(&pid, "kill -9 $$");
	assert_ok(loop_child(loop, pid, on_child, &pid, &e), &e);
	run(0);
	assert_true(WIFSIGNALED(last_status));
	assert_int_equal(WTERMSIG(last_status), SIGKILL);
}

static void refuses_to_watch_a_stranger(void **state)
{
	struct err e = { 0 };
	pid_t pid = 1;

	(void)state;
	assert_true(loop_child(loop, pid, on_child, &pid, &e) < 0);
	assert_true(e.msg[0]);
}

static int fds[2];

static void on_readable(void *arg)
{
	char c;

	(void)arg;
	assert_int_equal(read(fds[0], &c, 1), 1);
	if (++calls == 2) {
		loop_io_off(loop, fds[0]);
		(void)loop_after(loop, 0.1, give_up, NULL, NULL);
	}
}

static void a_descriptor_is_read_until_it_is_taken_off(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	assert_ok(loop_io(loop, fds[0], on_readable, NULL, &e), &e);
	run(99);
	assert_int_equal(calls, 2);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void taking_off_no_descriptor_leaves_the_timers(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_ok(loop_every(loop, 0.01, count_to_three, NULL, &e), &e);
	loop_io_off(loop, -1);
	loop_io_off(loop, 500);
	limit();
	run(3);
}

static void refuses_a_bad_descriptor(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_true(loop_io(loop, -1, on_readable, NULL, &e) < 0);
	assert_true(loop_io(loop, 987, on_readable, NULL, &e) < 0);
	/* And does not remember it. */
	limit();
	assert_ok(loop_every(loop, 0.01, count_to_three, NULL, &e), &e);
	run(3);
}

static void send_term(void *arg)
{
	(void)arg;
	(void)kill(getpid(), SIGTERM);
}

static void on_stop(void *arg)
{
	(*(int *)arg)++;
	loop_exit(loop, 42);
}

static void a_stop_signal_ends_the_loop_or_calls_the_hook(void **state)
{
	struct err e = { 0 };
	int stops = 0;

	(void)state;
	limit();
	assert_ok(loop_after(loop, 0, send_term, NULL, &e), &e);
	run(0);
	loop_free(loop);
	assert_ok(loop_new(&loop, &e), &e);
	limit();
	loop_on_stop(loop, on_stop, &stops);
	assert_ok(loop_after(loop, 0, send_term, NULL, &e), &e);
	run(42);
	assert_int_equal(stops, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_timer_comes_again_and_again, make_loop,
						drop_loop),
		cmocka_unit_test_setup_teardown(a_single_timer_comes_once_and_may_set_the_next,
						make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(ends_of_children_are_told_with_their_status,
						make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(a_killed_child_is_told_from_one_that_ended,
						make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(refuses_to_watch_a_stranger, make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(a_descriptor_is_read_until_it_is_taken_off,
						make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(taking_off_no_descriptor_leaves_the_timers,
						make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(refuses_a_bad_descriptor, make_loop, drop_loop),
		cmocka_unit_test_setup_teardown(a_stop_signal_ends_the_loop_or_calls_the_hook,
						make_loop, drop_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
