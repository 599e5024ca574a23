/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

static void on_stop(int sig)
{
	came = sig;
	(void)alarm(1);
}

static void on_alarm(int sig)
{
	(void)sig;
	if (came)
		(void)alarm(1);
}

void stop_install(void)
{
	/* Without SA_RESTART: a read or write that waits ends with EINTR. */
	const struct sigaction stop = { .sa_handler = on_stop };
	const struct sigaction tick = { .sa_handler = on_alarm };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)sigaction(signals[i], &stop, NULL);
	(void)sigaction(SIGALRM, &tick, NULL);
}

void stop_reset(void)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)signal(signals[i], SIG_DFL);
	(void)signal(SIGALRM, SIG_DFL);
}

int stop_signal(void)
{
	return came;
}
