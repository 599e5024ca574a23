/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kperfbot-workloads: all bundled workloads in one program. The name that it is called by says which
 * one is meant (NAME_processes, NAME_threads, usemem); under its own name the first argument does.
 */
#include "runners/workloads/applets.h"
#include "runners/workloads/files.h"
#include "runners/workloads/tests.h"
#include "runners/workloads/usemem.h"

#include <stdio.h>
#include <string.h>

#define SUITE_IDENTITY "bundled:" KPERFBOT_VERSION

const struct wis_test wis_tests[] = {
#define WIS_TEST(name, title, setup, run, cleanup) { #name, title, setup, run, cleanup },
#include "runners/workloads/tests.def"
#undef WIS_TEST
	{ 0 },
};

static int list(void)
{
	for (const struct wis_test *t = wis_tests; t->name; t++)
		(void)printf("%s_processes\n%s_threads\n", t->name, t->name);
	(void)printf("usemem\n");
	for (const struct applet *a = applets; a->name; a++)
		(void)printf("%s\n", a->name);
	return 0;
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const struct wis_test *find(const char *name, bool *ret_threads)
{
	for (const struct wis_test *t = wis_tests; t->name; t++) {
		size_t n = strlen(t->name);

		if (strncmp(name, t->name, n) != 0)
			continue;
		*ret_threads = !strcmp(name + n, "_threads");
		if (*ret_threads || !strcmp(name + n, "_processes"))
			return t;
	}
	return NULL;
}

static const struct applet *find_applet(const char *name)
{
	for (const struct applet *a = applets; a->name; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}

static int run_applet(const struct applet *a, int argc, char **argv)
{
	int r = a->run(argc, argv);

	if (r != APPLET_USAGE)
		return r;
	(void)fprintf(stderr, "usage: %s %s\n", a->name, a->usage);
	return 1;
}

bool workload_main(int argc, char **argv, int *ret)
{
	const char *name = basename_of(argv[0]);
	const struct applet *a = find_applet(name);
	bool threads;
	const struct wis_test *t = find(name, &threads);

	if (!t && !a && strcmp(name, "usemem") != 0)
		return false;
	bundled_name = name;
	if (argc == 2 && !strcmp(argv[1], "--version"))
		*ret = printf("%s of kperfbot-workloads %s\n", name, SUITE_IDENTITY) < 0;
	else if (a)
		*ret = run_applet(a, argc, argv);
	else
		*ret = t ? wis_main(t, threads, argc, argv) : usemem_main(argc, argv);
	return true;
}

static int usage(FILE *f)
{
	(void)fprintf(f, "usage: kperfbot-workloads WORKLOAD [ARGUMENT...]\n"
			 "       kperfbot-workloads --list | --version\n"
			 "or call it by the name of a workload.\n");
	return f != stdout;
}

int main(int argc, char **argv)
{
	int r;

	if (argc < 1)
		return 1;
	if (workload_main(argc, argv, &r))
		return r;
	if (argc >= 2 && !strcmp(argv[1], "--list"))
		return list();
	if (argc >= 2 && !strcmp(argv[1], "--version"))
		return printf("kperfbot-workloads %s\n", SUITE_IDENTITY) < 0;
	if (argc >= 2 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	if (argc >= 2 && argv[1][0] != '-') {
		if (workload_main(argc - 1, argv + 1, &r))
			return r;
		(void)fprintf(stderr, "kperfbot-workloads: no workload '%.80s', see --list\n",
			      argv[1]);
		return 1;
	}
	return usage(stderr);
}
