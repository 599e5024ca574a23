/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Part of the kernels that tests/lab/make-kernel builds, not of kperfbot: makes a kernel fail when it
 * is asked to, by "kperfbot_test.do=WORD" on its command line for the end of the boot, or by a write
 * to /sys/module/kperfbot_test/parameters/do at once.
 */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/reboot.h>
#include <linux/string.h>

static char wish[16];

static void fail(const char *how)
{
	if (!strcmp(how, "panic")) {
		panic("kperfbot_test was asked to");
	} else if (!strcmp(how, "oops")) {
		*(volatile int *)0x10 = 1;
	} else if (!strcmp(how, "warn")) {
		WARN(1, "kperfbot_test was asked to");
	} else if (!strcmp(how, "loop")) {
		emergency_restart();
	} else if (!strcmp(how, "hang")) {
		local_irq_disable();
		for (;;)
			cpu_relax();
	}
}

static int wish_set(const char *value, const struct kernel_param *kp)
{
	strscpy(wish, value, sizeof(wish));
	strim(wish);
	/* Early in the boot nobody could read what is said. */
	if (system_state == SYSTEM_RUNNING)
		fail(wish);
	return 0;
}

static const struct kernel_param_ops wish_ops = { .set = wish_set };

module_param_cb(do, &wish_ops, NULL, 0200);

static int __init kperfbot_test_init(void)
{
	fail(wish);
	return 0;
}
late_initcall(kperfbot_test_init);
