/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/workloads/usemem.h"

#include "runners/workloads/nodes.h"
#include "runners/workloads/numbers.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_SEED = 256,
	OPT_INIT_TIME,
	OPT_TOUCH,
	OPT_HOLES,
	OPT_MEMFD,
	OPT_THP,
	OPT_PAGEOUT,
	OPT_ADDR,
	OPT_FIRST,
	OPT_CPU,
	OPT_MEMORY,
	OPT_READS,
	OPT_SIGNAL_RANDOM,
	OPT_VERIFY,
	OPT_SIGNAL_WRITE,
	OPT_LOOP
};

static const char short_options[] = "n:t:b:af:B:OUFPu:j:r:RowT:e:yxSAMEZdp:s:qhLNHDWgm:";

static const struct option long_options[] = {
	{ "nproc", required_argument, NULL, 'n' },
	{ "thread", required_argument, NULL, 't' },
	{ "bind", required_argument, NULL, 'b' },
	{ "malloc", no_argument, NULL, 'a' },
	{ "file", required_argument, NULL, 'f' },
	{ "offset", required_argument, NULL, 'B' },
	{ "hugetlb", no_argument, NULL, 'U' },
	{ "prefault", no_argument, NULL, 'F' },
	{ "prealloc", no_argument, NULL, 'P' },
	{ "unit", required_argument, NULL, 'u' },
	{ "step", required_argument, NULL, 'j' },
	{ "repeat", required_argument, NULL, 'r' },
	{ "random", no_argument, NULL, 'R' },
	{ "random-seed", required_argument, NULL, OPT_SEED },
	{ "readonly", no_argument, NULL, 'o' },
	{ "open-rw", no_argument, NULL, 'w' },
	{ "runtime", required_argument, NULL, 'T' },
	{ "delay", required_argument, NULL, 'e' },
	{ "sync-rw", no_argument, NULL, 'y' },
	{ "msync", no_argument, NULL, 'S' },
	{ "msync-async", no_argument, NULL, 'A' },
	{ "mlock", no_argument, NULL, 'M' },
	{ "remap", no_argument, NULL, 'E' },
	{ "read-again", no_argument, NULL, 'Z' },
	{ "detach", no_argument, NULL, 'd' },
	{ "pid-file", required_argument, NULL, 'p' },
	{ "sleep", required_argument, NULL, 's' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "init-time", no_argument, NULL, OPT_INIT_TIME },
	{ "touch-alloc", no_argument, NULL, OPT_TOUCH },
	{ "punch-holes", no_argument, NULL, OPT_HOLES },
	{ "memfd", no_argument, NULL, OPT_MEMFD },
	{ "madv-thp", no_argument, NULL, OPT_THP },
	{ "madv-pageout", no_argument, NULL, OPT_PAGEOUT },
	{ "show-addr", no_argument, NULL, OPT_ADDR },
	{ "first-access-speed", no_argument, NULL, OPT_FIRST },
	{ "numa-cpu", required_argument, NULL, OPT_CPU },
	{ "numa-memory", required_argument, NULL, OPT_MEMORY },
	{ "signal-read-count", required_argument, NULL, OPT_READS },
	{ "signal-read-random", no_argument, NULL, OPT_SIGNAL_RANDOM },
	{ "signal-read-verify", no_argument, NULL, OPT_VERIFY },
	{ "write-signal-write", no_argument, NULL, OPT_SIGNAL_WRITE },
	{ "signal-loop", no_argument, NULL, OPT_LOOP },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool usage(const char *fmt, const char *what)
{
	if (fmt) {
		(void)fprintf(stderr, "usemem: ");
		(void)fprintf(stderr, "'%.80s' %s\n", what, fmt);
	}
	(void)fprintf(
		stderr,
		"usage: usemem [option...] SIZE[kmgt]\n"
		"  -n, --nproc N       processes (1)          -t, --thread N     threads in each (0)\n"
		"  -b, --bind K        task i on CPU i*K      -a, --malloc       malloc, not mmap\n"
		"  -f, --file F        map F, shared          -B, --offset N     at this offset\n"
		"  -O                  anonymous mapping      -U, --hugetlb      of 2M pages\n"
		"  -F, --prefault      populate               -P, --prealloc     map before fork\n"
		"  -u, --unit SIZE     size of a chunk        -j, --step SIZE    stride (8)\n"
		"  -r, --repeat N      passes (1)             -R, --random       at random places\n"
		"      --random-seed N                        -o, --readonly     load, do not store\n"
		"  -w, --open-rw       map for writing too    -T, --runtime S    stop after S seconds\n"
		"  -e, --delay N[um]   stay N ns on a page    -y, --sync-rw      start after mapping\n"
		"  -x                  free together          -S, --msync        sync after a pass\n"
		"  -A, --msync-async   begin to sync          -M, --mlock        lock at the end\n"
		"  -E, --remap         grow ten times first   -Z, --read-again   time one more read\n"
		"  -d, --detach        go on in background    -p, --pid-file F   pid of that one\n"
		"  -s, --sleep S       before freeing         -q, --quiet        no dots\n"
		"  -L                  lock a shared segment  -g             wait for a line\n"
		"  -N                  mincore, with -P       -H             of a 2M-page segment\n"
		"  -D                  advise about the file that stands in place of SIZE\n"
		"  -W                  read on SIGUSR1            --signal-read-count N   so often\n"
		"      --signal-read-random                       --signal-read-verify\n"
		"      --write-signal-write  write instead        --signal-loop  for ever\n"
		"  -m N                MiB, for old scripts       --memfd        map a memfd\n"
		"      --touch-alloc   touch pages first          --punch-holes  every other page\n"
		"      --madv-thp      huge pages                 --madv-pageout after the passes\n"
		"      --show-addr     print addresses            --first-access-speed\n"
		"      --numa-cpu N    on CPUs of node N          --numa-memory N    memory of it\n"
		"      --init-time     time the start apart       --version      name and version\n");
	return false;
}

static bool parse_count(const char *s, uint64_t max, unsigned long *ret)
{
	uint64_t v;

	if (!count_parse(s, max, &v))
		return false;
	*ret = (unsigned long)v;
	return true;
}

static bool parse_delay(const char *s, uint64_t *ret)
{
	const char *rest;
	uint64_t v, factor = 1;

	if (!number_parse(s, &v, &rest) || v > UINT32_MAX)
		return false;
	if (*rest == 'u')
		factor = 1000;
	else if (*rest == 'm')
		factor = 1000000;
	if (*rest && (factor == 1 || rest[1]))
		return false;
	*ret = v * factor;
	return true;
}

static bool parse_sleep(const char *s, long *ret)
{
	uint64_t v;

	if (!count_parse(*s == '-' ? s + 1 : s, INT32_MAX, &v))
		return false;
	*ret = *s == '-' ? -(long)v : (long)v;
	return true;
}

static bool set_flag(struct usemem_opts *o, int c)
{
	const struct {
		int c;
		bool *flag;
	} flags[] = {
		{ 'a', &o->use_malloc },
		{ 'O', &o->anonymous },
		{ 'U', &o->hugetlb },
		{ 'F', &o->prefault },
		{ 'P', &o->prealloc },
		{ 'R', &o->random },
		{ 'o', &o->readonly },
		{ 'w', &o->open_rw },
		{ 'y', &o->sync_rw },
		{ 'x', &o->sync_free },
		{ 'S', &o->msync },
		{ 'A', &o->msync_async },
		{ 'M', &o->mlock },
		{ 'E', &o->remap },
		{ 'Z', &o->read_again },
		{ 'd', &o->detach },
		{ 'q', &o->quiet },
		{ OPT_INIT_TIME, &o->init_time },
		{ 'L', &o->shm_lock },
		{ 'N', &o->mincore },
		{ 'H', &o->mincore_huge },
		{ 'g', &o->interactive },
		{ 'W', &o->wait_signal },
		{ OPT_TOUCH, &o->touch_alloc },
		{ OPT_HOLES, &o->punch_holes },
		{ OPT_MEMFD, &o->memfd },
		{ OPT_THP, &o->madv_thp },
		{ OPT_PAGEOUT, &o->madv_pageout },
		{ OPT_ADDR, &o->show_addr },
		{ OPT_FIRST, &o->first_speed },
		{ OPT_SIGNAL_RANDOM, &o->signal_random },
		{ OPT_VERIFY, &o->signal_verify },
		{ OPT_SIGNAL_WRITE, &o->signal_write },
		{ OPT_LOOP, &o->signal_loop },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (flags[i].c == c) {
			*flags[i].flag = true;
			return true;
		}
	}
	return false;
}

static bool parse_node(const char *s, long *ret)
{
	uint64_t v;

	if (!count_parse(s, NODES_MAX - 1, &v))
		return false;
	*ret = (long)v;
	return true;
}

static bool set_value(struct usemem_opts *o, int c, const char *s)
{
	uint64_t ignored;

	switch (c) {
	case 'n':
		return parse_count(s, 1UL << 20, &o->nproc) && o->nproc > 0;
	case 't':
		return parse_count(s, 1UL << 20, &o->threads);
	case 'b':
		return parse_count(s, UINT32_MAX, &o->bind);
	case 'r':
		return parse_count(s, UINT32_MAX, &o->repeat);
	case 'T':
		return parse_count(s, UINT32_MAX, &o->runtime_s);
	case 'u':
		return bytes_parse(s, &o->unit) && o->unit > 0;
	case 'j':
		return bytes_parse(s, &o->step) && o->step >= sizeof(uint64_t);
	case 'B':
		return count_parse(s, INT64_MAX, &o->offset);
	case 'e':
		return parse_delay(s, &o->delay_ns);
	case 's':
		return parse_sleep(s, &o->sleep_s);
	case 'f':
		o->file = s;
		return true;
	case 'p':
		o->pid_file = s;
		return true;
	case 'm':
		/* SIZE overrides it, and SIZE is always there. */
		return count_parse(s, UINT64_C(1) << 40, &ignored);
	case OPT_CPU:
		return parse_node(s, &o->numa_cpu);
	case OPT_MEMORY:
		return parse_node(s, &o->numa_memory);
	case OPT_READS:
		return parse_count(s, UINT32_MAX, &o->signal_reads) && o->signal_reads > 0;
	case OPT_SEED:
		o->has_seed = true;
		return count_parse(s, UINT64_MAX, &o->seed);
	default:
		return false;
	}
}

static bool check(struct usemem_opts *o)
{
	/* Each of them says what to do on the signal. */
	o->wait_signal |= o->signal_reads > 0 || o->signal_random || o->signal_verify ||
			  o->signal_write || o->signal_loop;
	if (o->signal_reads == 0)
		o->signal_reads = 1;
	if (o->unit == 0)
		o->unit = o->size;
	if (o->sync_rw && o->unit != o->size)
		return usage("needs one chunk: --unit the size or left out", "--sync-rw");
	if (o->hugetlb && !o->anonymous)
		return usage("needs -O", "--hugetlb");
	if (o->remap && !o->prealloc)
		return usage("needs --prealloc", "--remap");
	if (o->mincore && !o->prealloc)
		return usage("needs --prealloc", "-N");
	if (o->memfd && (o->file || o->anonymous || o->use_malloc))
		return usage("does not go with --file, -O and --malloc", "--memfd");
	/* Only words that hold their index can be checked. */
	if (o->signal_verify && (o->readonly || o->random || o->punch_holes))
		return usage("needs a first pass that writes all words", "--signal-read-verify");
	if (o->signal_write && o->readonly && !o->open_rw)
		return usage("does not go with --readonly", "--write-signal-write");
	return true;
}

bool usemem_options(int argc, char **argv, struct usemem_opts *ret)
{
	struct usemem_opts o = {
		.nproc = 1, .repeat = 1, .step = sizeof(uint64_t), .numa_cpu = -1, .numa_memory = -1
	};
	bool advise = false;
	int c;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		if (c == '?' || c == 'h')
			return usage(NULL, NULL);
		advise |= c == 'D';
		if (c != 'D' && !set_flag(&o, c) && !set_value(&o, c, optarg))
			return usage("is not a value of this option", optarg);
	}
	if (optind + 1 != argc)
		return usage(NULL, NULL);
	if (advise)
		o.advise = argv[optind];
	else if (!bytes_parse(argv[optind], &o.size))
		return usage("is not a size such as 512m", argv[optind]);
	if (!check(&o))
		return false;
	*ret = o;
	return true;
}
