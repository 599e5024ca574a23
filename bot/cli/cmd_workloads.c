/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot workloads: what is bundled, how much memory a task of it takes, and what it needs. */
#include "bot/base/cleanup.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "runners/suites/vms.h"
#include "runners/suites/wis.h"

#include <string.h>

/* A sentence for each test of will-it-scale, in the order of its descriptor. */
static const struct {
	const char *name, *about;
} wis_abouts[] = {
#define WIS_TEST(name, title, setup, run, cleanup) { #name, title },
#include "runners/workloads/tests.def"
#undef WIS_TEST
};

static const struct {
	const char *test, *need;
} wis_needs[] = {
	{ "fallocate1", "a tmpfs on /dev/shm" },
	{ "fallocate2", "fallocate in /tmp" },
	{ "read3", "O_DIRECT in /tmp" },
	{ "read4", "O_DIRECT in /tmp" },
	{ "poll2", "138 open files for each CPU and task" },
};

static const struct {
	unsigned bit;
	const char *need;
} vms_needs[] = {
	{ VMS_NEEDS_ROOT, "root" },
	{ VMS_NEEDS_SWAP, "swap" },
	{ VMS_NEEDS_NODES, "2 NUMA nodes" },
	{ VMS_NEEDS_HUGETLB, "huge pages" },
	{ VMS_NEEDS_DISK, "a working folder on a disk" },
	{ VMS_NEEDS_KSM, "KSM" },
	{ VMS_NEEDS_MEMCG, "memory cgroups" },
};

/*
 * struct row - one line of the list.
 * mib: -1 where memory says it. shared: all tasks together fill it once.
 */
struct row {
	const char *suite, *name, *about, *memory;
	int mib;
	bool shared;
	const char *needs[ARRAY_SIZE(vms_needs)];
	size_t needs_n;
};

static void add_json(json_t *all, const struct row *r)
{
	json_t *o = json_object(), *needs = json_array();

	json_set_str(o, "suite", r->suite);
	json_set_str(o, "name", r->name);
	json_set_str(o, "about", r->about);
	json_set_str(o, "memory_per_task", r->memory);
	if (r->mib >= 0)
		json_set_i64(o, "memory_per_task_bytes", (int64_t)r->mib << 20);
	json_set_bool(o, "memory_shared", r->shared);
	for (size_t i = 0; i < r->needs_n; i++)
		(void)json_array_append_new(needs, json_string(r->needs[i]));
	(void)json_object_set_new(o, "needs", needs);
	(void)json_array_append_new(all, o);
}

static void print_row(const struct row *r)
{
	(void)printf("%-26s %-10s%-7s %s", r->name, r->memory, r->shared ? " shared" : "",
		     r->about);
	for (size_t i = 0; i < r->needs_n; i++)
		(void)printf("%s%s", i == 0 ? " Needs " : ", ", r->needs[i]);
	(void)printf("%s\n", r->needs_n > 0 ? "." : "");
}

/* @all: NULL to print. */
static void take_row(json_t *all, const struct row *r)
{
	if (all)
		add_json(all, r);
	else
		print_row(r);
}

static void list_wis(json_t *all)
{
	for (size_t i = 0; i < ARRAY_SIZE(wis_abouts); i++) {
		for (int threads = 0; threads < 2; threads++) {
			_cleanup_(freep) char *name = xasprintf("%s_%s", wis_abouts[i].name,
								threads ? "threads" : "processes");
			_cleanup_(freep) char *memory = xasprintf("%u MiB", wis_test_mib(i));
			_cleanup_(freep) char *about = xasprintf(
				"%c%s.", wis_abouts[i].about[0] & ~0x20, wis_abouts[i].about + 1);
			struct row r = { .suite = "will-it-scale",
					 .name = name,
					 .about = about,
					 .memory = wis_test_mib(i) ? memory : "pages",
					 .mib = (int)wis_test_mib(i) };

			for (size_t k = 0; k < ARRAY_SIZE(wis_needs); k++)
				if (!strcmp(wis_needs[k].test, wis_abouts[i].name))
					r.needs[r.needs_n++] = wis_needs[k].need;
			take_row(all, &r);
		}
	}
}

static const char *vms_memory(const struct vms_case *c)
{
	if (c->size == SIZE_NONE && c->file == VMS_FILE_NONE)
		return "128 KiB";
	switch (c->fill) {
	case VMS_FILL_NONE:
		break;
	case VMS_FILL_TASK:
	case VMS_FILL_ONE:
	case VMS_FILL_COW:
		return vms_size_text(c->size);
	}
	return c->needs & VMS_NEEDS_DISK ? "cache" : "tables";
}

static void list_vms(json_t *all)
{
	const struct vms_case *c;

	for (size_t i = 0; (c = vms_case_at(i)); i++) {
		struct row r = { .suite = "vm-scalability",
				 .name = c->name,
				 .about = c->about,
				 .memory = vms_memory(c),
				 .mib = -1,
				 .shared = c->fill == VMS_FILL_ONE };

		for (size_t k = 0; k < ARRAY_SIZE(vms_needs); k++)
			if (c->needs & vms_needs[k].bit)
				r.needs[r.needs_n++] = vms_needs[k].need;
		take_row(all, &r);
	}
}

static void print_all(void)
{
	(void)printf("will-it-scale: memory that each task fills\n");
	list_wis(NULL);
	(void)printf(
		"\nvm-scalability: memory that each task fills, of\n"
		"  N tasks, M all memory, A free memory, U unit_size, S shm_size;\n"
		"  tables: page tables alone, cache: page cache that the kernel can take back\n");
	list_vms(NULL);
}

int cmd_workloads(struct cli *cli, int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *o = NULL;
	_cleanup_(freep) char *text = NULL;
	json_t *all;
	int at = cli_options(cli, argc, argv, NULL, 0);

	if (at < 0)
		return EXIT_USAGE;
	if (argc - at > 1 || (argc - at == 1 && strcmp(argv[at], "list") != 0))
		return cli_usage(cli, "say 'list'");
	if (!cli->json) {
		print_all();
		return EXIT_DONE;
	}
	o = json_object();
	all = json_array();
	json_set_str(o, "format", "kperfbot-workloads/1");
	list_wis(all);
	list_vms(all);
	(void)json_object_set_new(o, "workloads", all);
	text = json_text(o);
	(void)printf("%s\n", text);
	return EXIT_DONE;
}
