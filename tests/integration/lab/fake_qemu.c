/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes QEMU's place: speaks QMP and the agent's protocol over the descriptors that it is given, well
 * or badly, as FAKE_QEMU_MODE in the environment says. fake_modes in test_qemu.c are all of them.
 * Without that variable the image given as -kernel says it, and how fast the benchmarks are on it:
 * that is how tests/e2e has a kernel for each commit. FAKE_QEMU_FACTOR makes a machine slower or
 * faster than it was, whatever it boots. FAKE_QEMU_SEED is what the noise comes from, for boots that
 * have to be repeatable. The demo boots true ones in the true QEMU.
 */
#include "bot/base/err.h"
#include "runners/proto/message.h"
#include "tests/integration/lab/fake_image.h"

#include <signal.h>
#include <string.h>

static const char *mode;
static int agent = -1, console = -1, firmware = -1, qmp = -1;
static bool is_kvm, has_kernel;
static char nonce[80];
static const char *kernel;
static struct fake_image image;
static char program[80]; /* of the job */

static bool is(const char *name)
{
	return !strcmp(mode, name);
}

static void put(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0)
			exit(0);
		p += n;
		len -= (size_t)n;
	}
}

static void puts_to(int fd, const char *s)
{
	put(fd, s, strlen(s));
}

static void sleep_for_ever(void)
{
	for (;;)
		(void)pause();
}

static void shut_down(const char *reason)
{
	char line[200];

	(void)snprintf(line, sizeof(line),
		       "{\"timestamp\":{\"seconds\":1,\"microseconds\":2},\"event\":\"SHUTDOWN\","
		       "\"data\":{\"guest\":true,\"reason\":\"%s\"}}\r\n",
		       reason);
	puts_to(qmp, line);
	exit(0);
}

static void read_args(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i++) {
		char id[20];
		const char *p;
		int fd;

		if (sscanf(argv[i + 1], "socket,id=%19[a-z],fd=%d", id, &fd) == 2) {
			if (!strcmp(id, "agent"))
				agent = fd;
			else if (!strcmp(id, "console"))
				console = fd;
			else if (!strcmp(id, "firmware"))
				firmware = fd;
			else if (!strcmp(id, "qmp"))
				qmp = fd;
		}
		is_kvm |= !strcmp(argv[i], "-accel") && !strcmp(argv[i + 1], "kvm");
		has_kernel |= !strcmp(argv[i], "-kernel");
		if (!strcmp(argv[i], "-kernel"))
			kernel = argv[i + 1];
		p = strstr(argv[i + 1], "kperfbot.nonce=");
		if (p)
			(void)sscanf(p, "kperfbot.nonce=%79s", nonce);
	}
}

static void probe(void)
{
	if (is("kvm-silent"))
		sleep_for_ever();
	if (is("kvm-refused")) {
		(void)fputs("Could not access KVM kernel module: No such file or directory\n",
			    stderr);
		exit(1);
	}
	puts_to(firmware, "SeaBIOS (version fake)\n");
	sleep_for_ever();
}

/* Waits until @word was read from QMP. */
static void qmp_expect(const char *word)
{
	static char buf[4096];
	static size_t len;

	while (!strstr(buf, word)) {
		ssize_t n = read(qmp, buf + len, sizeof(buf) - 1 - len);

		if (n <= 0)
			exit(0);
		len += (size_t)n;
		buf[len] = '\0';
	}
}

static void power_on(void)
{
	if (is("qmp-garbage")) {
		puts_to(qmp, "this is no QMP\n");
		sleep_for_ever();
	}
	puts_to(qmp, "{\"QMP\":{\"version\":{},\"capabilities\":[]}}\r\n");
	qmp_expect("cont");
	puts_to(qmp, "{\"return\":{}}\r\n{\"event\":\"RESUME\"}\r\n{\"return\":{}}\r\n");
	if (is("kvm-internal-error") && is_kvm) {
		puts_to(firmware, "SeaBIOS\n");
		(void)fputs("KVM internal error. Suberror: 1\nextra data[0]: 1\n", stderr);
		puts_to(qmp, "{\"event\":\"STOP\"}\r\n");
		qmp_expect("query-status");
		puts_to(qmp, "{\"return\":{\"status\":\"internal-error\",\"running\":false}}\r\n");
		sleep_for_ever();
	}
}

static void boot_badly(void)
{
	if (is("silent"))
		sleep_for_ever();
	if (is("dies"))
		(void)raise(SIGKILL);
	puts_to(firmware, "SeaBIOS\n");
	puts_to(console, "[    0.000000] Linux version 6.12\n[    0.0] Command line: oops=panic\n");
	if (is("boot-hang"))
		sleep_for_ever();
	if (is("boot-oops")) {
		puts_to(console, "[    0.5] BUG: kernel NULL pointer dereference, address: 8\n");
		sleep_for_ever();
	}
	if (is("boot-panic")) {
		puts_to(console, "[    0.512345] Kernel pan");
		puts_to(console, "ic - not syncing: VFS: Unable to mount root fs\r\n");
		shut_down("guest-reset");
	}
	if (is("boot-panic-stays")) {
		puts_to(console, "[    0.5][    T1] \033[31mKernel panic - not syncing: stuck");
		sleep_for_ever();
	}
	if (is("boot-oom")) {
		puts_to(console,
			"[    0.5] Kernel panic - not syncing: System is deadlocked on memory\n");
		shut_down("guest-reset");
	}
	if (is("boot-reset"))
		shut_down("guest-reset");
	if (is("no-port")) {
		puts_to(console, "kperfbot-agent: port: no virtio-serial port org.kperfbot.0\n");
		shut_down("guest-shutdown");
	}
	if (is("waits-for-port")) {
		puts_to(console, "kperfbot-agent: waiting for port org.kperfbot.0\n");
		sleep_for_ever();
	}
}

static void send_all(struct strbuf *b)
{
	put(agent, b->s, b->len);
	strbuf_reset(b);
}

static void say_hello(struct strbuf *b)
{
	char release[] = "6.12.0", right[] = "aabbcc", wrong[] = "aabbcd", boot_id[] = "b-1";
	char other[] = "another-boot";
	struct proto_hello h = { .version = is("bad-version") ? 99 : PROTO_VERSION,
				 .cpus = 2,
				 .mem_total_bytes = 1ull << 30,
				 .mem_available_bytes = 1ull << 30,
				 .release = release,
				 .build_id = is("wrong-build-id") ? wrong : right,
				 .boot_id = is("no-boot-id") ? NULL : boot_id,
				 .nonce = is("wrong-nonce") ? other : nonce };

	if (image.build_id[0])
		h.build_id = image.build_id;
	if (is("no-build-id"))
		h.build_id = NULL;
	if (image.words[0])
		h.boot_id = nonce; /* new on each boot, as is a true one */
	h.facts = json_pack("{ss}", "thp", "never");
	(void)proto_hello_add(b, &h, NULL);
	json_decref(h.facts);
	send_all(b);
}

static void hello_badly(struct strbuf *b)
{
	static char zeros[2u << 20];

	if (is("garbage")) {
		put(agent, zeros, sizeof(zeros));
		sleep_for_ever();
	}
	if (is("garbage-then-hello"))
		puts_to(agent, "login: kpF kpF\xb7\x01 noise");
	if (is("lying-length")) {
		put(agent, "kpF\xb7\1\0\0\0\x60\xea\0\0\1\2\3\4{\"version\"", 26);
		shut_down("guest-shutdown");
	}
	if (is("no-hello")) {
		(void)proto_run_start_add(b, 0, NULL);
		send_all(b);
		sleep_for_ever();
	}
	if (is("agent-fault")) {
		(void)proto_fault_add(b, "agent", "the agent died of signal 11", NULL);
		(void)proto_frame_add(b, PROTO_BYE, NULL, 0, NULL);
		send_all(b);
		shut_down("guest-shutdown");
	}
}

static unsigned wait_for_job(void)
{
	struct proto_decoder d = { 0 };
	struct proto_job job = { 0 };
	struct proto_frame f;
	char buf[4096];
	unsigned runs;

	while (proto_decoder_next(&d, &f, NULL) != 1) {
		ssize_t n = read(agent, buf, sizeof(buf));

		if (n <= 0)
			exit(0);
		proto_decoder_add(&d, buf, (size_t)n);
	}
	if (f.type != PROTO_JOB || proto_job_parse(&f, &job, NULL) < 0)
		exit(3);
	runs = job.runs;
	if (job.ncommands && job.commands[0].argv[0])
		(void)snprintf(program, sizeof(program), "%s",
			       strrchr(job.commands[0].argv[0], '/')
				       ? strrchr(job.commands[0].argv[0], '/') + 1
				       : job.commands[0].argv[0]);
	proto_job_done(&job);
	proto_decoder_done(&d);
	return runs;
}

/* What the job asked for is in force, and the machine is as it was. */
static void say_ready(struct strbuf *b)
{
	struct proto_ready ready = { .settings = json_pack("{ss}", "thp", "never"),
				     .facts = json_pack("{ss}", "thp", "never") };

	if (is("setup-fault")) {
		(void)proto_fault_add(b, "setup", "cannot set governor 'performance'", NULL);
		(void)proto_frame_add(b, PROTO_BYE, NULL, 0, NULL);
		send_all(b);
		shut_down("guest-shutdown");
	}
	if (is("other-cpus"))
		(void)json_object_set_new(ready.facts, "cpus", json_integer(1));
	if (!is("not-ready"))
		(void)proto_ready_add(b, &ready, NULL);
	if (is("ready-twice"))
		(void)proto_ready_add(b, &ready, NULL);
	proto_ready_done(&ready);
	send_all(b);
}

static void flood(struct strbuf *b)
{
	static char chunk[30000];

	memset(chunk, 'x', sizeof(chunk));
	for (size_t sent = 0; sent < ((size_t)17 << 20); sent += sizeof(chunk)) {
		proto_output_add(b, PROTO_STDOUT, chunk, sizeof(chunk));
		send_all(b);
	}
}

static void run_badly(struct strbuf *b, struct proto_run_end *end)
{
	if (is("hang-in-run"))
		sleep_for_ever();
	if (is("dies-in-run"))
		(void)raise(SIGKILL);
	if (is("panic-in-run")) {
		puts_to(console, "[    9.0] Kernel panic - not syncing: Fatal exception\n");
		shut_down("guest-reset");
	}
	if (is("reset-in-run"))
		shut_down("guest-reset");
	if (is("off-in-run"))
		shut_down("guest-shutdown");
	if (is("hello-twice"))
		say_hello(b);
	if (is("oops-in-run"))
		puts_to(console, "[    9.0] Oops: general protection fault, 0000 [#1] SMP\n");
	if (is("stall-in-run"))
		puts_to(console, "[    9.0] rcu: INFO: rcu_sched self-detected stall on CPU\n");
	if (is("oom-in-run")) {
		puts_to(console, "[    9.0] Out of memory: Killed process 77 (page_fault1_pr)\n");
		end->signal = SIGKILL;
		end->exit_status = -1;
	}
	if (is("bench-error"))
		end->exit_status = 3;
	if (is("bench-timeout")) {
		end->timed_out = true;
		end->signal = SIGKILL;
		end->exit_status = -1;
	}
	if (is("clock"))
		end->clock_jump_s = -3600;
	if (is("flood"))
		flood(b);
	if (is("stream-not-named"))
		proto_output_add(b, PROTO_NAMED, "x", 1);
	if (is("stream-twice") || is("stream"))
		(void)proto_stream_add(b, PROTO_NAMED, "monitor/vmstat", NULL);
	if (is("stream-twice"))
		(void)proto_stream_add(b, PROTO_NAMED + 1, "monitor/vmstat", NULL);
	while (is("endless")) {
		(void)proto_frame_add(b, PROTO_BEAT, NULL, 0, NULL);
		send_all(b);
		(void)usleep(20000);
	}
}

static double number_of(const char *variable, double otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtod(text, NULL) : otherwise;
}

static void print_rate(struct strbuf *b, unsigned number)
{
	const char *given = getenv("FAKE_QEMU_SEED");
	char seed[200], text[2000];
	size_t len;

	(void)snprintf(seed, sizeof(seed), "%.150s %u", given ? given : nonce, number);
	len = fake_image_output(fake_image_rate(&image, program, seed) *
					number_of("FAKE_QEMU_FACTOR", 1),
				text, sizeof(text));
	proto_output_add(b, PROTO_STDOUT, text, is("cut-output") ? len / 2 : len);
}

static void run(struct strbuf *b, unsigned number)
{
	struct proto_run_end end = { .run = is("wrong-run") ? number + 7 : number,
				     .wall_s = number_of("FAKE_QEMU_WALL", 8.1) };

	if (!is("run-not-started"))
		(void)proto_run_start_add(b, number, NULL);
	if (image.words[0])
		print_rate(b, number);
	else
		proto_output_add(b, PROTO_STDOUT, "testcase:fake\nwarmup\n", 21);
	proto_output_add(b, PROTO_STDERR, "a remark\n", 9);
	send_all(b);
	run_badly(b, &end);
	if (!image.words[0])
		proto_output_add(b, PROTO_STDOUT, "average:100\n", 12);
	(void)proto_run_end_add(b, &end, NULL);
	send_all(b);
}

int main(int argc, char **argv)
{
	struct strbuf b = STRBUF_INIT;
	unsigned runs;

	read_args(argc, argv);
	mode = getenv("FAKE_QEMU_MODE");
	if (!mode && kernel && fake_image_read(kernel, &image) == 0)
		mode = image.mode;
	if (!mode)
		return 2;
	if (is("refuses")) {
		(void)fputs("qemu-system-x86_64: -m 9T: cannot set up guest memory\n", stderr);
		return 1;
	}
	if (!has_kernel)
		probe();
	power_on();
	boot_badly();
	hello_badly(&b);
	say_hello(&b);
	if (is("hang-after-hello"))
		sleep_for_ever();
	runs = wait_for_job();
	say_ready(&b);
	for (unsigned i = 0; i < runs; i++) {
		if (is("leaves-early") && i == 1)
			break;
		run(&b, i);
	}
	(void)proto_frame_add(&b, PROTO_BYE, NULL, 0, NULL);
	send_all(&b);
	if (is("panic-after-bye"))
		puts_to(console, "[    9.0] Kernel panic - not syncing: at power-off\n");
	strbuf_done(&b);
	shut_down("guest-shutdown");
}
