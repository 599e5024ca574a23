/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/qemu_args.h"

#include "bot/base/err.h"
#include "runners/drivers/drivers.h"

#include <inttypes.h>
#include <string.h>

#define MEMORY_DEFAULT	     ((uint64_t)512 << 20)
#define ICOUNT_SHIFT_DEFAULT 4

static const char *const accels[] = { "kvm", "tcg", "icount" };

const char *qemu_accel_name(enum qemu_accel a)
{
	return accels[a];
}

int qemu_accel_find(const char *name, enum qemu_accel *ret, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(accels); i++) {
		if (!strcmp(name, accels[i])) {
			*ret = (enum qemu_accel)i;
			return 0;
		}
	}
	return err_set(e, ERR_INVAL, "accel '%s' has to be kvm, tcg or icount", name);
}

static void add(struct qemu_args *a, const char *arg)
{
	vec_push(&a->argv, xstrdup(arg));
}

static void add2(struct qemu_args *a, const char *option, char *value)
{
	add(a, option);
	vec_push(&a->argv, value);
}

static void add_common(struct qemu_args *a, const struct lab_machine *m, enum qemu_accel accel)
{
	add(a, m->qemu ? m->qemu : "qemu-system-x86_64");
	add(a, "-nodefaults");
	add(a, "-no-user-config");
	add(a, "-no-reboot");
	add2(a, "-display", xstrdup("none"));
	add2(a, "-nic", xstrdup("none"));
	add2(a, "-machine", xstrdup("pc"));
	/* QEMU runs a kernel that nobody has vouched for. */
	add2(a, "-sandbox",
	     xstrdup("on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"));
	if (accel == QEMU_KVM) {
		add2(a, "-accel", xstrdup("kvm"));
		add2(a, "-cpu", xstrdup("host"));
	} else {
		add2(a, "-accel", xstrdup(accel == QEMU_ICOUNT ? "tcg,thread=single" : "tcg"));
		/*
		 * A string instruction counts once per step. With ERMS the kernel clears pages byte
		 * by byte, and 4096 counted steps would hide everything else of a page fault.
		 */
		add2(a, "-cpu", xstrdup(accel == QEMU_ICOUNT ? "max,erms=off,fsrm=off" : "max"));
	}
	if (accel == QEMU_ICOUNT) {
		int shift = m->icount_shift > 0 ? m->icount_shift : ICOUNT_SHIFT_DEFAULT;

		/* With sleep=off an idle guest does not wait: its clock jumps to the next timer. */
		add2(a, "-icount", xasprintf("shift=%d,sleep=off", shift));
		add2(a, "-rtc", xstrdup("base=utc,clock=vm"));
	}
}

/* Inherited descriptors: no path in the file system, none that is too long or left behind. */
static void add_chardev(struct qemu_args *a, const char *id, int fd)
{
	add2(a, "-chardev", xasprintf("socket,id=%s,fd=%d", id, fd));
}

/* SeaBIOS tells what it does on this port: the first sign that a guest runs at all. */
static void add_firmware_port(struct qemu_args *a, int fd)
{
	add_chardev(a, "firmware", fd);
	add2(a, "-device", xstrdup("isa-debugcon,iobase=0x402,chardev=firmware"));
}

static char *command_line(const struct lab_machine *m, const struct lab_request *q,
			  enum qemu_accel accel)
{
	struct strbuf s = STRBUF_INIT;

	/* Each oops is a panic, and each panic a reset, which ends QEMU at once. */
	strbuf_addf(&s, "console=ttyS0 panic=-1 oops=panic kperfbot.nonce=%s", q->nonce);
	if (setting_get(q, "thp"))
		strbuf_addf(&s, " transparent_hugepage=%s", setting_get(q, "thp"));
	/* Who counts instructions wants the same ones on each boot. */
	if (accel == QEMU_ICOUNT)
		strbuf_addstr(&s, " nokaslr");
	if (m->append && *m->append)
		strbuf_addf(&s, " %s", m->append);
	return strbuf_take(&s);
}

void qemu_args_guest(struct qemu_args *a, const struct lab_machine *m, const struct lab_request *q,
		     enum qemu_accel accel, const char *initrd, const struct qemu_fds *fds)
{
	uint64_t memory = m->memory_bytes ? m->memory_bytes : MEMORY_DEFAULT;
	int cpus = accel == QEMU_ICOUNT || m->cpus < 1 ? 1 : m->cpus;

	add_common(a, m, accel);
	add2(a, "-m", xasprintf("%" PRIu64 "M", memory >> 20));
	add2(a, "-smp", xasprintf("%d", cpus));
	/* Not running yet: no event is missed while QMP is being set up. */
	add(a, "-S");
	add_chardev(a, "qmp", fds->qmp);
	add2(a, "-mon", xstrdup("chardev=qmp,mode=control"));
	add_firmware_port(a, fds->firmware);
	add_chardev(a, "console", fds->console);
	add2(a, "-serial", xstrdup("chardev:console"));
	add_chardev(a, "agent", fds->agent);
	add2(a, "-device", xstrdup("virtio-serial-pci,max_ports=2"));
	add2(a, "-device", xstrdup("virtserialport,chardev=agent,name=org.kperfbot.0"));
	add2(a, "-kernel", xstrdup(q->kernel_path));
	add2(a, "-initrd", xstrdup(initrd));
	add2(a, "-append", command_line(m, q, accel));
	vec_push(&a->argv, NULL);
}

void qemu_args_probe(struct qemu_args *a, const struct lab_machine *m, enum qemu_accel accel,
		     int firmware_fd)
{
	add_common(a, m, accel);
	add2(a, "-m", xstrdup("64M"));
	add_firmware_port(a, firmware_fd);
	vec_push(&a->argv, NULL);
}

void qemu_args_done(struct qemu_args *a)
{
	for (size_t i = 0; i < a->argv.len; i++)
		free(a->argv.items[i]);
	vec_done(&a->argv);
}
