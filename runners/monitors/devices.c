/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupts, soft interrupts and block devices. */
#include "bot/base/cleanup.h"
#include "runners/monitors/internal.h"

#include <string.h>

#define CPUS_MAX 16384u

static const struct meaning interrupt = {
	.scale = 1, .unit = "", .per_cpu = true, .about = "interrupts of this source on all CPUs"
};
static const struct meaning fault = { .scale = 1,
				      .unit = "",
				      .about = "interrupts that went wrong" };

/* The line over the columns: which CPUs are online. Their number goes to @r->scratch. */
static bool read_cpu_header(struct reading *r)
{
	struct scan s = scan_line(&r->line);
	struct word w;

	r->scratch = 0;
	while (word_next(&s, &w)) {
		uint64_t nr;

		if (w.len < 4 || memcmp(w.s, "CPU", 3) != 0 ||
		    !number_u64(w.s + 3, w.len - 3, &nr) || r->scratch == CPUS_MAX) {
			r->scratch = 0;
			break;
		}
		r->scratch++;
		reading_member(r, w.s, w.len);
	}
	if (r->scratch == 0) {
		reading_bad(r, "a line of CPUs; the file is left out");
		r->file_skip = true;
	}
	return r->scratch > 0;
}

/* "KEY:" at the start of a line. */
static bool take_key(struct scan *s, struct word *key)
{
	if (!word_next(s, key) || key->len < 2 || key->s[key->len - 1] != ':')
		return false;
	key->len--;
	return true;
}

/* Sums one number for each CPU; *@ret_n is how many there were. */
static bool take_counts(struct scan *s, unsigned cpus, uint64_t *ret_sum, unsigned *ret_n)
{
	struct scan at = *s;
	struct word w;
	uint64_t v;

	*ret_sum = 0;
	*ret_n = 0;
	while (*ret_n < cpus && word_next(&at, &w)) {
		if (!number_u64(w.s, w.len, &v))
			return true;
		if (__builtin_add_overflow(*ret_sum, v, ret_sum))
			return false;
		++*ret_n;
		*s = at;
	}
	return true;
}

/*
 * What is behind the counts of a numbered interrupt: its chip, its number there with the trigger
 * ("5-edge", "27 Level"), who asked for it. Only the last says something in a report.
 */
static struct word device_name(struct scan s)
{
	struct word chip = { 0 }, nr, next;
	struct scan at;

	if (!word_next(&s, &chip) || !word_next(&s, &nr))
		return chip;
	at = s;
	if (word_next(&at, &next) && (word_eq(&next, "Level") || word_eq(&next, "Edge")))
		s = at;
	if (!word_next(&s, &next))
		return chip;
	next.len = (size_t)(s.end - next.s);
	while (next.len > 0 && next.s[next.len - 1] == ' ')
		next.len--;
	return next;
}

static bool is_fault(const struct word *key)
{
	return word_eq(key, "ERR") || word_eq(key, "MIS") || word_eq(key, "Err") ||
	       word_eq(key, "BAD");
}

void read_interrupts(struct reading *r)
{
	struct scan s = scan_line(&r->line);
	char name[MONITOR_NAME_MAX];
	struct word key, device;
	uint64_t sum, nr;
	unsigned n;

	if (r->file_line == 1) {
		(void)read_cpu_header(r);
		return;
	}
	if (!take_key(&s, &key) || key.len > 40 || !take_counts(&s, r->scratch, &sum, &n) ||
	    n == 0 || (n < r->scratch && n != 1)) {
		reading_bad(r, "an interrupt's counts");
		return;
	}
	if (n == 1 && (is_fault(&key))) {
		reading_value(r, &fault, sum, key.s, key.len);
		return;
	}
	if (n < r->scratch) {
		reading_bad(r, "a count for each CPU");
		return;
	}
	if (!number_u64(key.s, key.len, &nr)) {
		reading_value(r, &interrupt, sum, key.s, key.len);
		return;
	}
	device = device_name(s);
	if (device.len > 80)
		device.len = 80;
	n = (unsigned)metric_name(name, "%.*s%s%.*s", (int)key.len, key.s, device.len ? ":" : "",
				  (int)device.len, device.len ? device.s : "");
	reading_value(r, &interrupt, sum, name, n);
}

void read_softirqs(struct reading *r)
{
	static const struct meaning what = { .scale = 1,
					     .unit = "",
					     .per_cpu = true,
					     .about = "soft interrupts of this kind on all CPUs" };
	struct scan s = scan_line(&r->line);
	struct word key, rest;
	uint64_t sum;
	unsigned n;

	if (r->file_line == 1) {
		(void)read_cpu_header(r);
		return;
	}
	if (!take_key(&s, &key) || !take_counts(&s, r->scratch, &sum, &n) || n != r->scratch ||
	    word_next(&s, &rest)) {
		reading_bad(r, "a count for each CPU");
		return;
	}
	reading_value(r, &what, sum, key.s, key.len);
}

#define SECTOR 512 /* in this file, whatever the device says */
#define EVENTS(about_)                                    \
	{                                                 \
		.scale = 1, .unit = "", .about = (about_) \
	}
#define BYTES(about_)                                           \
	{                                                       \
		.scale = SECTOR, .unit = "B", .about = (about_) \
	}
#define SECONDS(about_)                                       \
	{                                                     \
		.scale = 1e-3, .unit = "s", .about = (about_) \
	}

static const struct {
	const char *key;
	struct meaning what;
} disk_columns[] = {
	{ "read_ios", EVENTS("reads done") },
	{ "read_merges", EVENTS("reads joined to another one") },
	{ "read_bytes", BYTES("bytes read") },
	{ "read_time", SECONDS("time that reads took, summed over reads") },
	{ "write_ios", EVENTS("writes done") },
	{ "write_merges", EVENTS("writes joined to another one") },
	{ "write_bytes", BYTES("bytes written") },
	{ "write_time", SECONDS("time that writes took, summed over writes") },
	{ "in_flight",
	  { .gauge = true,
	    .scale = 1,
	    .unit = "requests",
	    .kind = KIND_COUNT,
	    .about = "requests that the device works on" } },
	{ "io_time", SECONDS("time in which the device had something to do") },
	{ "wait_time", SECONDS("time that requests took, summed over requests") },
	{ "discard_ios", EVENTS("discards done") },
	{ "discard_merges", EVENTS("discards joined to another one") },
	{ "discard_bytes", BYTES("bytes discarded") },
	{ "discard_time", SECONDS("time that discards took, summed over discards") },
	{ "flush_ios", EVENTS("flushes done") },
	{ "flush_time", SECONDS("time that flushes took, summed over flushes") },
};

/* 14 columns since Linux 2.6, 18 with discards since 4.18, 20 with flushes since 5.5. */
void read_diskstats(struct reading *r)
{
	struct word w[3 + ARRAY_SIZE(disk_columns)];
	uint64_t v[3 + ARRAY_SIZE(disk_columns)];
	size_t n = words_split(&r->line, w, ARRAY_SIZE(w));
	char name[MONITOR_NAME_MAX];
	bool good = n == 14 || n == 18 || n >= 20;

	if (n > ARRAY_SIZE(w))
		n = ARRAY_SIZE(w);
	for (size_t i = 0; good && i < n; i++)
		good = i == 2 ? w[i].len <= 100 : number_u64(w[i].s, w[i].len, &v[i]);
	if (!good) {
		reading_bad(r, "a device with 11, 15 or 17 numbers");
		return;
	}
	for (size_t i = 3; i < n; i++) {
		size_t len = metric_name(name, "%.*s.%s", (int)w[2].len, w[2].s,
					 disk_columns[i - 3].key);

		reading_value(r, &disk_columns[i - 3].what, v[i], name, len);
	}
}
