/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/lab/relevance.h"

#include "bot/base/cleanup.h"

#include <stdbool.h>
#include <string.h>

/*
 * Lists of patterns, separated by blanks: '*' is any text without a slash; '@' the architecture.
 * A pattern that ends in '/' is all below that folder.
 */

/* What each test runs, or each kernel is built with: a change there can be felt anywhere. */
static const char everywhere[] =
	"Makefile Kbuild Kconfig init/Kconfig scripts/Makefile* scripts/Kconfig* scripts/link-vmlinux.sh "
	"scripts/gcc-* scripts/gcc-plugins/ kernel/Kconfig* kernel/configs/ arch/Kconfig "
	"arch/@/Makefile* arch/@/Kconfig* arch/@/configs/ arch/@/entry/ arch/@/lib/ arch/@/include/ "
	"arch/@/kernel/vmlinux.lds* arch/@/kernel/process* arch/@/kernel/fpu/ arch/@/kernel/cpu/ "
	"arch/@/kernel/tsc* arch/@/kernel/time* arch/@/kernel/apic/ arch/@/kernel/smp* "
	"arch/@/kernel/head* arch/@/kernel/alternative* arch/@/kernel/irq* arch/@/kernel/traps* "
	"arch/@/kernel/signal* arch/@/kernel/entry* "
	"kernel/sched/ kernel/locking/ kernel/rcu/ kernel/entry/ kernel/time/ kernel/softirq.c "
	"kernel/smp.c kernel/context_tracking.c kernel/seccomp.c kernel/audit*.c kernel/workqueue*.c "
	"kernel/cgroup/ kernel/events/ kernel/bpf/ kernel/stackleak* security/ "
	"lib/string* lib/usercopy* lib/iov_iter.c lib/radix-tree.c lib/xarray.c lib/maple_tree.c "
	"lib/rbtree.c lib/percpu* lib/lockref.c lib/rwsem* lib/list* lib/bitmap.c lib/find_bit.c "
	"lib/Kconfig* include/asm-generic/ include/linux/compiler* include/linux/sched* "
	"include/linux/spinlock* include/linux/rwlock* include/linux/mutex* include/linux/rwsem* "
	"include/linux/seqlock* include/linux/atomic* include/linux/rcu* include/linux/percpu* "
	"include/linux/preempt* include/linux/thread_info* include/linux/list* include/linux/bitops* "
	"include/linux/bitmap* include/linux/uaccess* include/linux/kernel.h include/linux/types.h "
	"include/linux/cache.h include/linux/linkage.h include/linux/jump_label* "
	"include/linux/static_call* include/linux/mm_types* include/linux/lockdep* "
	"include/linux/hardirq* include/linux/irqflags* include/linux/entry-* include/linux/cgroup* "
	"include/linux/security.h include/linux/lsm_* include/linux/string* include/linux/init.h "
	"include/linux/export* include/linux/build_bug.h include/linux/overflow.h "
	"include/vdso/ include/linux/time* include/linux/ktime* include/linux/hrtimer* "
	"drivers/cpufreq/ drivers/cpuidle/ drivers/idle/ drivers/powercap/ drivers/thermal/ "
	"drivers/clocksource/ drivers/acpi/processor* drivers/acpi/cppc* drivers/base/arch_topology.c "
	"drivers/iommu/ drivers/perf/ drivers/hv/ drivers/xen/ drivers/virtio/ ";

/* Nothing that a kernel is made of: text for people; programs and modules that try it out. */
#define TEXTS  "Documentation/ LICENSES/ MAINTAINERS CREDITS COPYING README .* "
#define TRIALS "tools/testing/ samples/ lib/kunit/ lib/tests/ lib/test* mm/*test* include/kunit/ "

/*
 * What no benchmark of ours runs while it is measured: other machines, text, tools, and code that
 * acts when a machine starts, a device comes or somebody debugs.
 */
static const char nowhere[] = TEXTS TRIALS
	"tools/ certs/ usr/ rust/ sound/ drivers/ virt/ scripts/ "
	"arch/@/crypto/ arch/@/pci/ arch/@/boot/ arch/@/kvm/ arch/@/xen/ arch/@/hyperv/ arch/@/math-emu/ "
	"arch/@/platform/ arch/@/power/ arch/@/purgatory/ arch/@/realmode/ arch/@/tools/ arch/@/um/ "
	"arch/@/ia32/ arch/@/kernel/acpi/ arch/@/kernel/kexec* arch/@/kernel/crash* arch/@/kernel/kprobes/ "
	"arch/@/kernel/*debug* "
	"init/ crypto/ kernel/irq/ kernel/power/ kernel/debug/ kernel/module/ kernel/module.c "
	"kernel/livepatch/ kernel/printk/ kernel/kcsan/ kernel/gcov/ kernel/dma/ kernel/trace/ "
	"kernel/kexec* kernel/crash* kernel/reboot.c kernel/panic.c kernel/ksysfs.c kernel/params.c "
	"kernel/resource*.c kernel/torture.c kernel/kprobes.c kernel/hung_task.c kernel/watchdog*.c "
	"lib/crypto/ lib/zlib_*/ lib/zstd/ lib/lz4/ lib/lzo/ lib/raid6/ lib/fonts/ "
	"lib/dynamic_debug.c lib/kobject* "
	"mm/kasan/ mm/kfence/ mm/kmsan/ mm/damon/ "
	"include/sound/ include/media/ include/drm/ include/video/ include/scsi/ include/rdma/ "
	"include/target/ include/pcmcia/ include/dt-bindings/ include/crypto/ include/kvm/ "
	"include/ras/ include/acpi/ include/clocksource/ include/soc/ include/linux/platform_data/ "
	"include/linux/mfd/ include/linux/iio/ include/linux/usb/ include/linux/regulator/ "
	"include/linux/clk/ include/linux/mtd/ include/linux/spi/ include/linux/gpio/ include/linux/mlx* "
	"include/linux/device* include/linux/interrupt.h include/linux/irq.h include/linux/irqdomain* "
	"include/linux/irqdesc.h include/linux/pci* include/linux/acpi* include/linux/of*.h "
	"include/linux/module*.h include/linux/kobject* include/linux/platform_device.h ";

#define MEMORY                                                                                       \
	"mm/ arch/@/mm/ include/linux/mm*.h include/linux/page* include/linux/pgtable* "             \
	"include/linux/gfp* include/linux/swap* include/linux/huge* include/linux/memcontrol* "      \
	"include/linux/memory* include/linux/mempolicy* include/linux/migrate* include/linux/rmap* " \
	"include/linux/vm* include/linux/slab* include/linux/rbtree* include/linux/maple* "          \
	"include/linux/khugepaged* include/linux/ksm* include/linux/userfaultfd* "                   \
	"include/linux/oom* include/linux/xarray.h include/linux/tlb* include/linux/shmem* "         \
	"fs/userfaultfd.c lib/maple* "
#define FILES                                                                                            \
	"fs/*.c fs/*.h fs/tmpfs/ fs/ramfs/ fs/ext4/ fs/xfs/ fs/btrfs/ fs/overlayfs/ fs/iomap/ fs/jbd2/ " \
	"fs/notify/ fs/proc/ mm/shmem.c mm/filemap.c mm/truncate.c mm/readahead.c mm/page-writeback.c "  \
	"mm/folio* mm/swap.c mm/workingset.c mm/util.c mm/slub.c mm/slab* mm/memcontrol* block/ "        \
	"include/linux/fs*.h include/linux/file*.h include/linux/fdtable.h include/linux/dcache* "       \
	"include/linux/namei* include/linux/path.h include/linux/pagemap* include/linux/pagevec* "       \
	"include/linux/shmem* include/linux/uio.h include/linux/fsnotify* include/linux/xattr* "         \
	"include/linux/writeback* include/linux/backing-dev* include/linux/blk* include/linux/bio* "     \
	"include/linux/iomap* include/linux/mount* include/linux/slab* include/linux/memcontrol* "       \
	"drivers/block/ drivers/nvme/ drivers/scsi/ drivers/ata/ drivers/md/ drivers/char/mem.c "
#define PIPES	"fs/pipe.c fs/eventfd.c include/linux/pipe* include/linux/eventfd* "
#define WAITS	"kernel/futex/ kernel/futex* kernel/sched/ include/linux/futex* include/linux/wait* "
#define SIGNALS "kernel/signal.c include/linux/signal* include/linux/posix-timers* "
#define CALLS \
	"kernel/sys.c kernel/sys_ni.c kernel/pid*.c kernel/cred.c kernel/user*.c include/linux/pid* include/linux/cred* include/linux/syscalls.h "
#define PROCESSES                                                                        \
	"kernel/fork.c kernel/exit.c kernel/exec* fs/exec.c fs/binfmt* kernel/ptrace.c " \
	"kernel/nsproxy.c include/linux/binfmts.h include/linux/nsproxy.h "
#define SOCKETS \
	"net/socket.c net/core/ net/unix/ include/net/ include/linux/skb* include/linux/net*.h include/linux/sock* "
#define NETWORK SOCKETS "net/ipv4/ net/ipv6/ net/netfilter/ net/sched/ drivers/net/ "

/* Tests whose path is known, the first row that fits; a NULL test is every other of the suite. */
static const struct hint {
	const char *suite;
	const char *test;
	const char *paths;
} hints[] = {
	{ "will-it-scale", "page_fault1", MEMORY },
	{ "will-it-scale", "page_fault*", MEMORY FILES },
	{ "will-it-scale", "brk*", MEMORY },
	{ "will-it-scale", "malloc*", MEMORY },
	{ "will-it-scale", "mmap*", MEMORY FILES },
	{ "will-it-scale", "tlb_flush*", MEMORY FILES },
	{ "will-it-scale", "fallocate*", MEMORY FILES },
	{ "will-it-scale", "getppid*", CALLS },
	{ "will-it-scale", "sched_yield", WAITS },
	{ "will-it-scale", "context_switch*", PIPES WAITS FILES },
	{ "will-it-scale", "pipe*", PIPES WAITS FILES },
	{ "will-it-scale", "eventfd*", PIPES WAITS FILES },
	{ "will-it-scale", "futex*", WAITS MEMORY },
	{ "will-it-scale", "posix_semaphore*", WAITS },
	{ "will-it-scale", "pthread_mutex*", WAITS },
	{ "will-it-scale", "signal*", SIGNALS },
	{ "will-it-scale", "unix*", SOCKETS FILES },
	{ "will-it-scale", "poll*", FILES SOCKETS WAITS },
	{ "will-it-scale", "dup*", FILES },
	{ "will-it-scale", "lock*", FILES },
	{ "will-it-scale", "lseek*", FILES },
	{ "will-it-scale", "open*", FILES },
	{ "will-it-scale", "unlink*", FILES },
	{ "will-it-scale", "pread*", FILES },
	{ "will-it-scale", "pwrite*", FILES },
	{ "will-it-scale", "read*", FILES },
	{ "will-it-scale", "write*", FILES },
	/* Any case of it: whatever a loop of one system call can run. */
	{ "will-it-scale", NULL,
	  MEMORY FILES PIPES WAITS SIGNALS CALLS PROCESSES SOCKETS "ipc/ kernel/*.c io_uring/ " },
	{ "vm-scalability", NULL, MEMORY FILES },
	{ "pft", NULL, MEMORY },
	{ "ebizzy", NULL, MEMORY WAITS },
	{ "hackbench", NULL, PIPES SOCKETS FILES WAITS PROCESSES MEMORY },
	{ "perf-bench-sched-messaging", NULL, PIPES SOCKETS FILES WAITS PROCESSES MEMORY },
	{ "perf-bench-sched-pipe", NULL, PIPES FILES WAITS },
	{ "perf-bench-futex", NULL, WAITS MEMORY },
	{ "perf-bench-mem", NULL, MEMORY },
	{ "perf-bench-numa-mem", NULL, MEMORY },
	{ "perf-bench-syscall", NULL, CALLS },
	{ "perf-bench-epoll", NULL, PIPES FILES WAITS },
	{ "unixbench", "syscall*", CALLS FILES },
	{ "unixbench", "spawn*", PROCESSES MEMORY FILES },
	{ "unixbench", "pipe*", PIPES FILES WAITS },
	{ "unixbench", "context*", PIPES FILES WAITS },
};

/* Folders at the top of a kernel tree. */
static const char kernel_tree[] =
	"arch/ block/ certs/ crypto/ drivers/ fs/ include/ init/ io_uring/ ipc/ kernel/ lib/ mm/ net/ "
	"rust/ samples/ scripts/ security/ sound/ tools/ usr/ virt/ Documentation/ LICENSES/ ";

const char *relevance_name(enum relevance r)
{
	static const char *const names[] = { "yes", "unknown", "no" };

	return names[r];
}

/* Does the pattern of @n bytes fit the whole of @s? */
static bool fits(const char *p, size_t n, const char *s, const char *arch)
{
	for (; n; p++, n--) {
		if (*p == '*') {
			for (;; s++) {
				if (fits(p + 1, n - 1, s, arch))
					return true;
				if (!*s || *s == '/')
					return false;
			}
		}
		if (*p == '@') {
			size_t len = strlen(arch);

			if (strncmp(s, arch, len) != 0)
				return false;
			s += len;
		} else if (*p == '/' && n == 1) {
			return *s == '/' && s[1];
		} else if (*p != *s++) {
			return false;
		}
	}
	return !*s;
}

static bool in_list(const char *list, const char *path, const char *arch)
{
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, " ");

		if (n && fits(p, n, path, arch))
			return true;
		p += n + strspn(p + n, " ");
	}
	return false;
}

static const struct hint *find_hint(const char *suite, const char *test)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		const struct hint *h = &hints[i];

		if (!strcmp(h->suite, suite) &&
		    (!h->test || (test && fits(h->test, strlen(h->test), test, ""))))
			return h;
	}
	return NULL;
}

static bool other_arch(const char *path, const char *arch)
{
	size_t n = strlen(arch);

	return !strncmp(path, "arch/", 5) && strchr(path + 5, '/') &&
	       (strncmp(path + 5, arch, n) != 0 || path[5 + n] != '/');
}

enum path_kind relevance_path_kind(const char *path, const char *arch)
{
	static const char texts[] = "README* *.rst *.md .gitignore .mailmap ";
	static const char trials[] = "*_test.c *_kunit.c ";
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (other_arch(path, arch))
		return PATH_OTHER_ARCH;
	if (in_list(TEXTS, path, arch) || in_list(texts, base, arch))
		return PATH_TEXT;
	return in_list(TRIALS, path, arch) || in_list(trials, base, arch) ? PATH_TRIAL : PATH_OTHER;
}

static enum relevance judge_path(const struct relevance_input *in, const struct hint *h,
				 const char *path)
{
	if (h && in_list(h->paths, path, in->arch))
		return RELEVANCE_YES;
	if (in_list(everywhere, path, in->arch))
		return RELEVANCE_YES;
	if (other_arch(path, in->arch) || in_list(nowhere, path, in->arch))
		return RELEVANCE_NO;
	return h && in_list(kernel_tree, path, in->arch) ? RELEVANCE_NO : RELEVANCE_UNKNOWN;
}

static bool in_profile(const struct relevance_input *in)
{
	for (size_t i = 0; i < in->n_symbols; i++)
		for (size_t k = 0; k < in->n_profile; k++)
			if (!strcmp(in->symbols[i], in->profile[k]))
				return true;
	return false;
}

enum relevance relevance_judge(const struct relevance_input *in, size_t *ret_why)
{
	const struct hint *h = find_hint(in->suite, in->test);
	enum relevance all = in->n_paths ? RELEVANCE_NO : RELEVANCE_UNKNOWN;
	size_t why = in->n_paths;

	if (in_profile(in))
		all = RELEVANCE_YES;
	for (size_t i = 0; i < in->n_paths && all != RELEVANCE_YES; i++) {
		enum relevance r = judge_path(in, h, in->paths[i]);

		if (r < all) {
			all = r;
			why = i;
		}
	}
	if (ret_why)
		*ret_why = why;
	return all;
}
