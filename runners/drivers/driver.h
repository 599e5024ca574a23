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
struct strbuf;

/** enum lab_class - how a boot or a run ended; lab_class_name() gives the text. */
enum lab_class {
	LAB_OK,
	LAB_BOOT_PANIC,	   /* panic, oops or reset before the agent spoke */
	LAB_BOOT_HANG,	   /* nothing from the agent within the boot deadline */
	LAB_BOOT_LOOP,	   /* started again and again before the agent spoke */
	LAB_WRONG_KERNEL,  /* the agent spoke, but from another kernel or another boot */
	LAB_OOPS,	   /* panic, oops, BUG or reset after the agent spoke */
	LAB_HANG,	   /* the agent spoke and then fell silent */
	LAB_OOM,	   /* the kernel killed for memory */
	LAB_BENCH_ERROR,   /* the benchmark ended with a status or a signal */
	LAB_BENCH_TIMEOUT, /* the benchmark was killed at its deadline */
	LAB_AGENT,	   /* the agent failed, or spoke against the protocol */
	LAB_SETUP,	   /* a setting that the job asks for did not take */
	LAB_TOO_SMALL,	   /* the machine has not the memory or the CPUs that the job needs */
	LAB_CLOCK,	   /* the machine's clock jumped during the run */
	LAB_DISK,	   /* the machine's disk is full or fails */
	LAB_NET,	   /* the machine cannot be reached, or its downloads fail */
	LAB_SSH,	   /* ssh refuses: host key, login, or the machine's own system */
	LAB_POWER,	   /* power control failed, or did not do what it said */
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
 * Only for boot-panic, boot-hang, boot-loop, oops and hang; and even then only after the same class
 * on two boots while a known-good build boots on the same machine.
 */
bool lab_class_blames_kernel(enum lab_class c);

/** lab_unsure_classes() - names of the classes for which that is so, NULL-terminated. Static. */
const char *const *lab_unsure_classes(void);

/** lab_class_blames_machine() - does this class count as a fault of the machine or its wiring? */
bool lab_class_blames_machine(enum lab_class c);

/**
 * struct lab_power - how the outlet of a machine is switched; everything borrowed.
 * @on, @off, @status: commands, run by /bin/sh; @status prints a line with the word on or off.
 * @ipmi_host: "host" or "host:port"; in place of commands: ipmitool over lanplus.
 * @ipmi_user, @ipmi_password_file: for that.
 * @off_s: seconds to stay off; 0: 5.
 * @timeout_s: of one action; 0: 30.
 * @still_ours: asked before each action: does the caller still hold the machine? NULL: it does.
 * @note: told before each action what is meant, and after it what came out of it; or NULL.
 * @arg: for both.
 *
 * All commands and @ipmi_host NULL: the machine has no power control.
 */
struct lab_power {
	const char *on, *off, *status;
	const char *ipmi_host, *ipmi_user, *ipmi_password_file;
	double off_s, timeout_s;
	bool (*still_ours)(void *arg);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/**
 * struct lab_ssh - how a machine with a system of its own is reached; everything borrowed.
 * @host, @user, @port: port 0: 22; user NULL: root.
 * @key_file, @known_hosts_file: the host key must be in the latter.
 * @boot: how a kernel is started: "kexec", or "command".
 * @boot_command: for the latter: run there after the kernel is in place, with KERNEL, INITRD, APPEND
 *	in its environment; it makes the machine start that kernel once.
 * @dir: folder for our files on the machine; NULL: "/var/lib/kperfbot-agent".
 * @initrd: an initramfs there for our kernels, NULL for none.
 */
struct lab_ssh {
	const char *host, *user, *key_file, *known_hosts_file;
	int port;
	const char *boot, *boot_command, *dir, *initrd;
};

/**
 * struct lab_netboot_offer - what a machine that asks gets; everything borrowed.
 * @mac: lower-case hex with colons.
 * @append: kernel command line; "kperfbot.url=URL" of the stream is added by who serves it.
 * @kernel, @initrd: artefacts, by sha256.
 */
struct lab_netboot_offer {
	const char *machine, *mac, *nonce, *append;
	const char *kernel, *initrd;
};

/**
 * struct lab_netboot - where the driver meets the server that the machine talks to.
 * @url: of that server, as the machine reaches it; borrowed.
 * @offer: put it up; replaces what the machine had before.
 * @take: append to @ret what the agent has sent since the last call.
 *	@ret_events: what the machine fetched so far, as PART of the NETBOOT_ bits; from bit 8 on, how
 *	often it asked for its script.
 * @send: bytes for the agent.
 * @withdraw: nothing is offered any more.
 * @store: put a file into the artefact store, its sha256 to @ret.
 *
 * The functions return 0 or an error; ERR_LEASE_LOST ends the boot, transient ones are tried again.
 */
#define NETBOOT_SCRIPT		1u
#define NETBOOT_KERNEL		2u
#define NETBOOT_INITRD		4u
#define NETBOOT_STREAM		8u
#define NETBOOT_FAILED		16u /* it said that it could not load what the script names */
#define NETBOOT_SCRIPTS(events) ((events) >> 8)
struct lab_netboot {
	const char *url;
	void *arg;
	int (*store)(void *arg, const char *path, char ret[65], struct err *e);
	int (*offer)(void *arg, const struct lab_netboot_offer *o, struct err *e);
	int (*take)(void *arg, struct strbuf *ret, unsigned *ret_events, struct err *e);
	int (*send)(void *arg, const void *data, size_t len, struct err *e);
	int (*withdraw)(void *arg, struct err *e);
};

/** enum lab_state - where a boot is; told to struct lab_request's progress(). */
enum lab_state {
	LAB_STATE_OFF,
	LAB_STATE_BOOTING,
	LAB_STATE_UP,
	LAB_STATE_RUNNING,
	LAB_STATE_COLLECTING,
	LAB_STATE_RESETTING,
	LAB_STATE_IDLE,
};

/** lab_state_name() - "off", "booting", … Static string. */
const char *lab_state_name(enum lab_state s);

/**
 * struct lab_machine - one machine; everything borrowed.
 * @driver: "qemu", "netboot", "ssh" or "local".
 * @accel: "kvm", "tcg" or "icount"; driver qemu only.
 * @cpus: of the guest, 1 or more; icount always has one.
 * @memory_bytes: of the guest; 0: 512 MiB.
 * @icount_shift: one instruction counts as 2^shift ns, 0 to 10; 0 or less: 4.
 * @qemu: program; NULL: "qemu-system-x86_64".
 * @append: more words for the kernel's command line, or NULL.
 * @boot_timeout_s: from power-on to the agent's first message; driver netboot: from the moment when the
 *	machine asks for its script; 0: 120.
 * @silence_timeout_s: without a sign of life of the agent; it gives one every 5 s of the machine's
 *	own clock, so not under 10; 0: 60.
 * @first_byte_timeout_s: from power-on to any sign of life of the firmware; 0: 10, without KVM 30,
 *	driver netboot 300: servers test themselves for minutes.
 * @workloads_path, @agent_path: the static programs that go to the machine.
 * @overlay: cpio archive that is laid over the initramfs (programs of other suites, say), or NULL;
 *	drivers qemu and netboot.
 * @owned: may settings of the machine be changed? Always so for qemu and netboot.
 * @power: drivers netboot and ssh.
 * @console_command: prints what the machine writes to its console, for as long as it runs, or NULL;
 *	drivers netboot and ssh.
 * @ssh, @netboot, @mac: for the driver of that name.
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
	const char *overlay;
	bool owned;
	struct lab_power power;
	const char *console_command;
	struct lab_ssh ssh;
	struct lab_netboot netboot;
	const char *mac;
};

/**
 * struct lab_request - what to boot and run; everything borrowed.
 * @kernel_path: bzImage; driver qemu only.
 * @build_id: hex; the GNU build id that the kernel must report. NULL or "" with driver local only.
 * @runs: how often the job runs on this one boot, 1 or more.
 * @nonce: letters, digits and '-', at most 64, never used before.
 * @scratch_dir: an existing folder of this call's own, for large files.
 * @settings: the machine's set-up, as in struct proto_job: "thp", "governor", "smt", "turbo",
 *	"sysctl.NAME"; what is not there is left as it is.
 * @aslr: do programs start with address space randomization?
 * @monitors: names of monitors to record, NULL-terminated, or NULL.
 * @monitor_interval_s: between samples; 0: 1.
 * @suite_path: folder of the unmodified upstream suite on the machine, or NULL.
 * @progress: called when the state changes, or NULL.
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
	const struct suite_param *settings;
	size_t nsettings;
	bool aslr;
	const char *const *monitors;
	double monitor_interval_s;
	const char *suite_path;
	void (*progress)(void *arg, enum lab_state state);
	void *progress_arg;
	double total_timeout_s;
	const volatile int *cancel;
};

/** struct lab_file - what came beside stdout and stderr; @data has a NUL behind it. */
struct lab_file {
	char *name; /* "monitor/vmstat", "file/metrics.yaml" */
	char *data;
	size_t len;
	bool truncated;
};

/**
 * struct lab_run - one run.
 * @detail: one line on what went wrong, or NULL.
 * @exit_status: of the command that ended it; 128 + signal; -1 if it never ended.
 * @wall_s: by the machine's clock; NAN if it never ended.
 * @raw: stdout as it came, with a NUL behind it; @raw_truncated: there was more than 16 MiB.
 * @errors: stderr as it came, with a NUL behind it; at most 1 MiB.
 * @rusage: object, see struct proto_run_end; NULL if it never ended.
 * @run_s, @clock_jump_s, @taint, @programs, @monitors, @facts: likewise; @run_s is NAN then.
 * @host_s: from its first message to its last by our clock; a guest that counts instructions has
 *	another one. NAN if it never ended.
 * @files: recordings and kept files; each at most 64 MiB, those of all runs of a boot together at
 *	most 256 MiB.
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
	double run_s, host_s, clock_jump_s;
	uint64_t taint;
	json_t *programs, *monitors, *facts;
	struct lab_file *files;
	size_t nfiles;
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
 * @settings: object: what the job asked for, as it was read back; NULL if it came not so far.
 * @power_cycles: how often the machine was switched on.
 * @boot_s: from power-on to the agent's first message; NAN without one.
 * @setup_s: from then to the start of the first run; NAN without one.
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
	json_t *settings;
	unsigned power_cycles;
	double boot_s, setup_s, total_s;
};

/**
 * lab_boot() - boot, run, collect and shut down; takes as long as that takes.
 * @ret: filled in every case, also on failure (then with LAB_FAULT and the console so far).
 *
 * The machine is off when this returns, or idle in the kernel it ran (drivers ssh and local), and its
 * processes here are reaped.
 *
 * Return: 0 whatever the kernel, the machine or the benchmark did; an error for a fault of ours:
 * ERR_INVAL and ERR_NOENT for a request that can never work, ERR_NOSPACE, ERR_IO, ERR_LAB and
 * ERR_CHILD for one that may work later.
 */
int lab_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	     struct err *e);

/** lab_result_done() - free what a result holds. */
void lab_result_done(struct lab_result *r);
