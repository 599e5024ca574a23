/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/runners/suites/outputs.h"

#include "bot/base/strbuf.h"
#include "tests/test.h"

#include <string.h>

const struct output_case output_cases[] = {
	{ "wis-page_fault1-processes-t2-s5.txt", "will-it-scale", "page_fault1",
	  "mode=process nr_task=2 runtime=5s" },
	{ "wis-page_fault1-threads-t2-s5.txt", "will-it-scale", "page_fault1",
	  "mode=thread nr_task=2 runtime=5s" },
	{ "wis-context_switch1-processes-t2-s2-v.txt", "will-it-scale", "context_switch1",
	  "mode=process nr_task=100% tasks=2 runtime=2s" },
	{ "wis-getppid1-threads-t4-s2-n.txt", "will-it-scale", "getppid1",
	  "mode=thread nr_task=4 runtime=2s pin=none" },
	{ "wis-getppid1-processes-t2-s2-childkilled.txt", "will-it-scale", "getppid1",
	  "mode=process nr_task=2 runtime=2s" },
	{ "wis-runtest-stock-getppid1.csv", "will-it-scale", "getppid1", "" },
	{ "wis-runtest-lkp-context_switch1.csv", "will-it-scale", "context_switch1", "" },
	{ "usemem-n2-64m.txt", "vm-scalability", NULL, "nr_task=2" },
	{ "usemem-t4-prealloc-32m.txt", "vm-scalability", NULL, "nr_task=4" },
	{ "usemem-r3-64m.txt", "vm-scalability", NULL, "nr_task=1" },
	{ "usemem-Z-j4096-64m.txt", "vm-scalability", NULL, "nr_task=1" },
	{ "usemem-initTime-n2-readonly-T2-8g.txt", "vm-scalability", NULL, "nr_task=2" },
	{ "usemem-hugetlb-failure.txt", "vm-scalability", NULL, "nr_task=1" },
	{ "vms-anon-w-seq-2x.txt", "vm-scalability", "anon-w-seq", "nr_task=2 runtime=3s" },
	{ "vms-lru-file-readonce.txt", "vm-scalability", "lru-file-readonce", "nr_task=2" },
	{ "vms-truncate-seq-2x.txt", "vm-scalability", "truncate-seq", "nr_task=2" },
	{ "vms-remap.txt", "vm-scalability", "remap", "nr_task=2" },
	{ "vms-migrate.txt", "vm-scalability", "migrate", "" },
	{ "vms-small-allocs.txt", "vm-scalability", "small-allocs", "nr_task=2" },
	{ "hackbench-g2-l1000-process.txt", "hackbench", "hackbench", "nr_task=2" },
	{ "hackbench-g2-l1000-threads-pipe.txt", "hackbench", "hackbench",
	  "nr_task=2 mode=thread ipc=pipe iterations=1" },
	{ "perf-bench-sched-messaging-g2-l1000.txt", "perf-bench-sched-messaging", "messaging",
	  "nr_task=2" },
	{ "perf-bench-sched-pipe-l50000.txt", "perf-bench-sched-pipe", "pipe", "loops=50000" },
	{ "perf-bench-simple-sched-pipe.txt", "perf-bench-sched-pipe", "pipe", "" },
	{ "perf-bench-syscall-basic.txt", "perf-bench-syscall", "basic", "" },
	{ "perf-bench-mem-memcpy-16MB.txt", "perf-bench-mem", "memcpy", "unit_size=16M" },
	{ "perf-bench-mem-memset-1MB.txt", "perf-bench-mem", "memset", "unit_size=1M" },
	{ "perf-bench-futex-hash-t2-r2.txt", "perf-bench-futex", "hash", "nr_task=2" },
	{ "perf-bench-futex-wake-t4.txt", "perf-bench-futex", "wake", "nr_task=4" },
	{ "perf-bench-futex-wake-parallel-t4.txt", "perf-bench-futex", "wake-parallel",
	  "nr_task=4" },
	{ "perf-bench-futex-requeue-t4.txt", "perf-bench-futex", "requeue", "nr_task=4" },
	{ "perf-bench-futex-lockpi-t2-r1.txt", "perf-bench-futex", "lock-pi", "nr_task=2" },
	{ "perf-bench-epoll-wait-t2-r1.txt", "perf-bench-epoll", "wait", "nr_task=2" },
	{ "perf-bench-numa-mem-p1-t2.txt", "perf-bench-numa-mem", "mem", "nr_task=2" },
	{ "perf-bench-numa-mem-m-p1-t2.txt", "perf-bench-numa-mem", "mem", "nr_task=2" },
	{ "stress-ng-fault2-metrics-brief.txt", "stress-ng", "fault", "nr_task=2" },
	{ "stress-ng-context2-metrics-times.txt", "stress-ng", "context", "nr_task=2" },
	{ "stress-ng-mmap1-pagemove1-metrics-brief.txt", "stress-ng", NULL, "nr_task=1" },
	{ "stress-ng-mmap1-pagemove1.yaml", "stress-ng", NULL, "nr_task=1" },
	{ "pft-256M.txt", "pft", "pft", "nr_task=2 iterations=3" },
	{ "pft-edge.txt", "pft", NULL, "iterations=1" },
	{ "lmbench-lat_pagefault-16MB.txt", "lmbench3", "lat_pagefault", "unit_size=16M" },
	{ "ebizzy-t2-S3.txt", "ebizzy", "ebizzy", "nr_task=2 runtime=3s" },
	{ "sysbench-cpu-t2.txt", "sysbench", "cpu", "nr_task=2" },
	{ "sysbench-memory-t2.txt", "sysbench", "memory", "nr_task=2" },
	{ "sysbench-threads-t4.txt", "sysbench", "threads", "nr_task=4" },
	{ "sysbench-mutex-t4.txt", "sysbench", "mutex", "nr_task=4" },
	{ "cyclictest-t2-D1.txt", "cyclictest", "cyclictest", "nr_task=2" },
	{ "../cases/27/a-old-info.txt", "stress-ng", "context", "nr_task=2" },
	{ "../cases/27/b-no-prefix.txt", "stress-ng", "ramfs", "nr_task=9" },
	{ "../cases/27/c-new-metrc.txt", "stress-ng", "close", "nr_task=192" },
	{ "../cases/27/d-misc-only.txt", "stress-ng", NULL, "nr_task=8" },
	{ "../cases/27/e-brief-huge.txt", "stress-ng", "msg", "" },
	{ 0 },
};

void output_params_init(struct output_params *p, const char *words)
{
	char *save = NULL;

	*p = (struct output_params){ 0 };
	assert_true(strlen(words) < sizeof(p->text));
	memcpy(p->text, words, strlen(words) + 1);
	for (char *w = strtok_r(p->text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');

		assert_non_null(eq);
		*eq = '\0';
		p->items[p->n++] = (struct suite_param){ .key = w, .value = eq + 1 };
	}
}

char *output_read(const char *file, size_t *ret_len)
{
	_cleanup_(freep) char *path = xasprintf("%s/tests/data/outputs/%s", TEST_SOURCE_DIR, file);
	_cleanup_(fclosep) FILE *f = fopen(path, "rb");
	char *text = xcalloc(1, 65536);

	if (!f)
		fail_msg("could not open %s", path);
	*ret_len = fread(text, 1, 65535, f);
	assert_true(*ret_len < 65535);
	return text;
}

void output_parse(const struct output_case *c, const char *text, size_t len,
		  struct suite_output *ret)
{
	struct output_params p;
	struct err e = { 0 };

	output_params_init(&p, c->params);
	assert_ok(suite_parse(suite_find(c->suite), c->test, text, len, p.items, p.n, ret, &e), &e);
}

const struct output_case *output_find(const char *file)
{
	for (const struct output_case *c = output_cases; c->file; c++)
		if (!strcmp(c->file, file))
			return c;
	fail_msg("no case %s", file);
	return NULL;
}
