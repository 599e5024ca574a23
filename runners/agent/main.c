/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot-agent: works for a driver on the machine where benchmarks run. */
#include "bot/base/cleanup.h"
#include "runners/agent/guard.h"
#include "runners/agent/http.h"
#include "runners/agent/init.h"

#include <getopt.h>

static int usage(FILE *f, int status)
{
	(void)fputs("usage: kperfbot-agent {--stdio|--http URL} --workloads PATH [--nonce TEXT]\n"
		    "As process 1 of a machine it takes no arguments.\n",
		    f);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "stdio", no_argument, NULL, 's' },
		{ "http", required_argument, NULL, 'H' },
		{ "workloads", required_argument, NULL, 'w' },
		{ "nonce", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct serve_opts opts = { .in = STDIN_FILENO, .out = STDOUT_FILENO };
	bool over_stdio = false;
	const char *url = NULL;
	int c;

	if (getpid() == 1)
		init_main();
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			over_stdio = true;
			break;
		case 'H':
			url = optarg;
			break;
		case 'w':
			opts.workloads = optarg;
			break;
		case 'n':
			opts.nonce = optarg;
			break;
		case 'V':
			(void)puts("kperfbot-agent " KPERFBOT_VERSION);
			return 0;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (over_stdio == (url != NULL) || !opts.workloads || optind != argc)
		return usage(stderr, 2);
	return url ? http_serve(url, &opts, guard_serve) : guard_serve(&opts);
}
