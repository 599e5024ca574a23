/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lab drivers: get one kernel running on one machine, have the agent there run a job, bring back
 * what it printed, and say into which class the outcome falls.
 */
#pragma once

#include "runners/suites/suite.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/** enum lab_class - how a boot or a run ended; lab_class_name() gives the text. */
enum lab_class {
	LAB_OK,
	LAB_BOOT_PANIC,	   /* panic, oops or reset before the agent spoke */
	LAB_BOOT_HANG,	   /* nothing from the agent within the boot deadline */
	LAB_WRONG_KERNEL,  /* the agent spoke, but from another kernel or another boot */
	LAB_OOPS,	   /* panic, oops, BUG or reset after the agent spoke */
	LAB_HANG,	   /* the agent spoke and then fell silent */
	LAB_OOM,	   /* the kernel killed for memory */
	LAB_BENCH_ERROR,   /* the benchmark ended with a status or a signal */
	LAB_BENCH_TIMEOUT, /* the benchmark was killed at its deadline */
	LAB_AGENT,	   /* the agent failed, or spoke against the protocol */
	LAB_ACCEL,	   /* the accelerator does not run guests */
	LAB_FAULT,	   /* a fault of ours: disk, memory, a missing program */
	LAB_CANCELLED,
};

/** lab_class_name() - "ok", "boot-panic", "bench-timeout" and so on. Static string. */
const char *lab_class_name(enum lab_class c);

/** lab_class_find() - the class with that name. Return: 0; ERR_NOENT. */
int lab_class_find(const char *name, enum lab_class *ret, struct err *e);

/**
 * lab_class_blames_kernel() - may this class ever speak about a commit?
 *
 * Only for boot-panic, boot-hang, oops and hang; and even then only after the same class on two
 * boots while a known-good build boots on the same machine.
 */
bool lab_class_blames_kernel(enum lab_class c);

/**
 * struct lab_machine - one machine; everything borrowed.
 * @driver: "qemu" or "local".
 * @accel: "kvm", "tcg" or "icount"; driver qemu only.
 * @cpus: of the guest, 1 or more; icount always has one.
 * @memory_bytes: of the guest; 0: 512 MiB.
 * @icount_shift: one instruction counts as 2^shift ns, 0 to 10; 0 or less: 4.
 * @qemu: program; NULL: "qemu-system-x86_64".
 * @append: more words for the kernel's command line, or NULL.
 * @boot_timeout_s: from power-on to the agent's first message; 0: 120.
 * @silence_timeout_s: without a sign of life of the agent; it gives one every 5 s of the machine's
 *	own clock, so not under 10; 0: 60.
 * @first_byte_timeout_s: from power-on to any sign of life of the firmware; 0: 10, without KVM 30.
 * @workloads_path, @agent_path: the static programs that go to the machine.
 */
struct lab_machine {
	const char *name, *driver, *accel;
	int cpus;
	uint64_t memory_bytes;
	int icount_shift;
	const char *qemu;
	const char *append;
	double boot_timeout_s, silence_timeout_s, first_byte_timeout_s;
	const char *workloads_path, *agent_path;
};

/**
 * struct lab_request - what to boot and run; everything borrowed.
 * @kernel_path: bzImage; driver qemu only.
 * @build_id: hex; the GNU build id that the kernel must report. NULL or "" with driver local only.
 * @runs: how often the job runs on this one boot, 1 or more.
 * @nonce: letters, digits and '-', at most 64, never used before.
 * @scratch_dir: an existing folder of this call's own, for large files.
 * @thp: "never", "always", "madvise" or NULL for the kernel's default.
 * @total_timeout_s: for the whole call; 0: from the boot deadline and the runs' deadlines.
 * @cancel: becomes non-zero (in a signal handler, say) when the call is to end; looked at four
 *	times a second; NULL: never.
 */
struct lab_request {
	const char *kernel_path;
	const char *build_id;
	const char *suite, *test;
	const struct suite_param *params;
	size_t nparams;
	unsigned runs;
	const char *nonce;
	const char *scratch_dir;
	const char *thp;
	double total_timeout_s;
	const volatile int *cancel;
};

/**
 * struct lab_run - one run.
 * @detail: one line on what went wrong, or NULL.
 * @exit_status: of the command that ended it; 128 + signal; -1 if it never ended.
 * @wall_s: by the machine's clock; NAN if it never ended.
 * @raw: stdout as it came, with a NUL behind it; @raw_truncated: there was more than 16 MiB.
 * @errors: stderr as it came, with a NUL behind it; at most 1 MiB.
 * @rusage: object, see struct proto_run_end; NULL if it never ended.
 */
struct lab_run {
	enum lab_class class;
	char *detail;
	int exit_status;
	double wall_s;
	char *raw;
	size_t raw_len;
	bool raw_truncated;
	char *errors;
	size_t errors_len;
	json_t *rusage;
};

/**
 * struct lab_result - one boot and its runs.
 * @class: LAB_OK if every run is; otherwise the first thing that was not.
 * @detail: one line on it, or NULL.
 * @boot_id: NULL if the agent never spoke.
 * @accel_used: what really ran, with a warning in parentheses: "tcg (kvm probe failed: …)". Numbers
 *	of different accelerators must not be compared. NULL with driver local.
 * @console: everything the machine wrote there, at most 4 MiB: head and tail, NUL behind it.
 * @facts: object with what the agent told, and the commands that ran; NULL if it never spoke.
 * @runs: those that started, also when they did not end.
 * @boot_s: from power-on to the agent's first message; NAN without one.
 * @total_s: from power-on to the end.
 */
struct lab_result {
	enum lab_class class;
	char *detail;
	char *boot_id;
	char *accel_used;
	char *console;
	size_t console_len;
	json_t *facts;
	struct lab_run *runs;
	size_t nruns;
	double boot_s, total_s;
};

/**
 * lab_boot() - boot, run, collect and shut down; takes as long as that takes.
 * @ret: filled in every case, also on failure (then with LAB_FAULT and the console so far).
 *
 * The machine is off and its processes are reaped when this returns.
 *
 * Return: 0 whatever the kernel, the machine or the benchmark did; an error for a fault of ours:
 * ERR_INVAL and ERR_NOENT for a request that can never work, ERR_NOSPACE, ERR_IO, ERR_LAB and
 * ERR_CHILD for one that may work later.
 */
int lab_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	     struct err *e);

/** lab_result_done() - free what a result holds. */
void lab_result_done(struct lab_result *r);
