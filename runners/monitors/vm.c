/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the kernel tells of its memory: vmstat, meminfo, slabinfo. */
#include "bot/base/cleanup.h"
#include "runners/monitors/internal.h"

#include <string.h>

static const struct meaning event = { .scale = 1,
				      .unit = "",
				      .about = "an event of the memory management" };
static const struct meaning level = { .gauge = true,
				      .scale = 1,
				      .unit = "pages",
				      .kind = KIND_COUNT,
				      .about = "pages in this state" };
static const struct meaning event_sum = {
	.scale = 1, .unit = "", .per_cpu = true, .about = "an event of the memory management"
};
static const struct meaning level_sum = { .gauge = true,
					  .scale = 1,
					  .unit = "pages",
					  .per_cpu = true,
					  .kind = KIND_COUNT,
					  .about = "pages in this state" };

/*
 * In vmstat files nr_* are levels, but for these, which only grow; all else grows, but for
 * workingset_nodes.
 */
static const char *const growing[] = {
	"nr_dirtied",
	"nr_written",
	"nr_throttled_written",
	"nr_vmscan_write",
	"nr_vmscan_immediate_reclaim",
	"nr_foll_pin_acquired",
	"nr_foll_pin_released",
	"nr_tlb_remote_flush",
	"nr_tlb_remote_flush_received",
	"nr_tlb_local_flush_all",
	"nr_tlb_local_flush_one",
};

static bool is_level(const struct word *key)
{
	if (key->len < 3 || memcmp(key->s, "nr_", 3) != 0)
		return word_eq(key, "workingset_nodes");
	for (size_t i = 0; i < ARRAY_SIZE(growing); i++)
		if (word_eq(key, growing[i]))
			return false;
	return true;
}

static const struct meaning paged = { .scale = 1,
				      .unit = "KiB",
				      .about = "data read from or written to block devices" };

static const struct meaning *meaning_of(const struct word *key)
{
	if (word_eq(key, "pgpgin") || word_eq(key, "pgpgout"))
		return &paged;
	return is_level(key) ? &level : &event;
}

static bool key_and_number(struct reading *r, struct word *key, uint64_t *v)
{
	struct word w[2];

	if (words_split(&r->line, w, 2) != 2 || !number_u64(w[1].s, w[1].len, v)) {
		reading_bad(r, "a name and a number");
		return false;
	}
	*key = w[0];
	return true;
}

void read_proc_vmstat(struct reading *r)
{
	struct word key;
	uint64_t v;

	if (key_and_number(r, &key, &v))
		reading_value(r, meaning_of(&key), v, key.s, key.len);
}

/* Metrics "node0.nr_shmem", and "all.nr_shmem" for the sum of all nodes. */
void read_numa_vmstat(struct reading *r)
{
	static const char before[] = "/sys/devices/system/node/";
	const char *node = r->path + sizeof(before) - 1;
	size_t node_len = r->path_len - (sizeof(before) - 1) - strlen("/vmstat");
	char name[MONITOR_NAME_MAX];
	struct word key;
	bool is_gauge;
	uint64_t v;
	size_t n;

	if (r->file_line == 1)
		reading_member(r, node, node_len);
	if (!key_and_number(r, &key, &v))
		return;
	if (node_len > 24 || key.len > 100) {
		reading_bad(r, "a line of usual length");
		return;
	}
	is_gauge = is_level(&key);
	n = metric_name(name, "%.*s.%.*s", (int)node_len, node, (int)key.len, key.s);
	reading_value(r, is_gauge ? &level : &event, v, name, n);
	n = metric_name(name, "all.%.*s", (int)key.len, key.s);
	reading_add(r, is_gauge ? &level_sum : &event_sum, v, name, n);
}

void read_meminfo(struct reading *r)
{
	static const struct meaning kib = { .gauge = true,
					    .scale = 1,
					    .unit = "KiB",
					    .kind = KIND_COUNT,
					    .about = "memory used for this" };
	static const struct meaning pages = { .gauge = true,
					      .scale = 1,
					      .unit = "pages",
					      .kind = KIND_COUNT,
					      .about = "huge pages in this state" };
	struct word w[3];
	size_t n = words_split(&r->line, w, 3);
	uint64_t v;

	if (n < 2 || n > 3 || w[0].len < 2 || w[0].s[w[0].len - 1] != ':' ||
	    !number_u64(w[1].s, w[1].len, &v) || (n == 3 && !word_eq(&w[2], "kB"))) {
		reading_bad(r, "\"NAME: NUMBER kB\"");
		return;
	}
	reading_value(r, n == 3 ? &kib : &pages, v, w[0].s, w[0].len - 1);
}

void read_slabinfo(struct reading *r)
{
	static const struct meaning used = { .gauge = true,
					     .scale = 1,
					     .unit = "objects",
					     .kind = KIND_COUNT,
					     .about = "objects of this slab cache in use" };
	static const struct meaning there = { .gauge = true,
					      .scale = 1,
					      .unit = "objects",
					      .kind = KIND_COUNT,
					      .about =
						      "objects of this slab cache, free ones too" };
	char name[MONITOR_NAME_MAX];
	struct word w[7];
	uint64_t v[5];
	size_t n;

	if (r->file_line == 1) {
		/* Kernels built to debug slabs add " (statistics)" and columns at the end. */
		if (!line_starts(&r->line, "slabinfo - version: 2.1") ||
		    (r->line.len > 23 && r->line.s[23] != ' ')) {
			reading_bad(r, "version 2.1 of slabinfo");
			r->file_skip = true;
		}
		return;
	}
	if (line_starts(&r->line, "#"))
		return;
	n = words_split(&r->line, w, ARRAY_SIZE(w));
	for (size_t i = 0; n >= 7 && i < ARRAY_SIZE(v); i++)
		if (!number_u64(w[i + 1].s, w[i + 1].len, &v[i]))
			n = 0;
	if (n < 7 || w[0].len > 100 || !word_eq(&w[6], ":")) {
		reading_bad(r, "a slab cache");
		return;
	}
	n = metric_name(name, "%.*s.active_objs", (int)w[0].len, w[0].s);
	reading_value(r, &used, v[0], name, n);
	n = metric_name(name, "%.*s.num_objs", (int)w[0].len, w[0].s);
	reading_value(r, &there, v[1], name, n);
}
