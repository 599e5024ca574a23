/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/driver.h"

#include "bot/base/clock.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/drivers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	bool blames_kernel, blames_machine;
} classes[] = {
	[LAB_OK] = { "ok", false, false },
	[LAB_BOOT_PANIC] = { "boot-panic", true, false },
	[LAB_BOOT_HANG] = { "boot-hang", true, false },
	[LAB_BOOT_LOOP] = { "boot-loop", true, false },
	[LAB_WRONG_KERNEL] = { "wrong-kernel", false, false },
	[LAB_OOPS] = { "oops", true, false },
	[LAB_HANG] = { "hang", true, false },
	[LAB_OOM] = { "oom", false, false },
	[LAB_BENCH_ERROR] = { "bench-error", false, false },
	[LAB_BENCH_TIMEOUT] = { "bench-timeout", false, false },
	[LAB_AGENT] = { "agent", false, false },
	[LAB_SETUP] = { "setup", false },
	[LAB_TOO_SMALL] = { "too-small", false, false },
	[LAB_CLOCK] = { "clock", false, true },
	[LAB_DISK] = { "disk", false, true },
	[LAB_NET] = { "net", false, true },
	[LAB_SSH] = { "ssh", false, true },
	[LAB_POWER] = { "power", false, true },
	[LAB_ACCEL] = { "accel", false, true },
	[LAB_FAULT] = { "fault", false, true },
	[LAB_CANCELLED] = { "cancelled", false, false },
};

const char *lab_class_name(enum lab_class c)
{
	return (size_t)c < ARRAY_SIZE(classes) ? classes[c].name : "unknown";
}

int lab_class_find(const char *name, enum lab_class *ret, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!strcmp(classes[i].name, name)) {
			*ret = (enum lab_class)i;
			return 0;
		}
	}
	return err_set(e, ERR_NOENT, "no lab class '%s'", name);
}

bool lab_class_blames_kernel(enum lab_class c)
{
	return (size_t)c < ARRAY_SIZE(classes) && classes[c].blames_kernel;
}

const char *const *lab_unsure_classes(void)
{
	static const char *const names[] = { "boot-panic", "boot-hang", "boot-loop",
					     "oops",	   "hang",	NULL };

	return names;
}

bool lab_class_blames_machine(enum lab_class c)
{
	return (size_t)c < ARRAY_SIZE(classes) && classes[c].blames_machine;
}

const char *lab_state_name(enum lab_state s)
{
	static const char *const names[] = {
		[LAB_STATE_OFF] = "off",
		[LAB_STATE_BOOTING] = "booting",
		[LAB_STATE_UP] = "up",
		[LAB_STATE_RUNNING] = "running",
		[LAB_STATE_COLLECTING] = "collecting",
		[LAB_STATE_RESETTING] = "resetting",
		[LAB_STATE_IDLE] = "idle",
	};

	return (size_t)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

double driver_now_s(void)
{
	return (double)clock_boottime() / 1e6;
}

double driver_timeout_s(double s, double missing)
{
	return s > 0 ? s : missing;
}

int driver_pair(int *ret_ours, int *ret_theirs, struct err *e)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return err_errno(e, errno, "could not make a socket pair");
	/* Only our end: the other's flags are for the child to choose. */
	(void)fcntl(fd[0], F_SETFL, O_NONBLOCK);
	*ret_ours = fd[0];
	*ret_theirs = fd[1];
	return 0;
}

long driver_read(int fd, char *buf, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	return n > 0 ? n : -1;
}

bool driver_send(int fd, struct strbuf *b)
{
	while (b->len) {
		ssize_t n = send(fd, b->s, b->len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		memmove(b->s, b->s + n, b->len - (size_t)n);
		b->len -= (size_t)n;
	}
	return true;
}

static bool word_is_safe(const char *s, size_t max)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return false;
	}
	return n > 0 && n <= max;
}

static bool is_one_of(const char *value, const char *const *choices)
{
	for (; *choices; choices++) {
		if (!strcmp(value, *choices))
			return true;
	}
	return false;
}

static bool sysctl_name_is_safe(const char *s)
{
	if (!isalpha((unsigned char)*s) || strlen(s) > 128 || strstr(s, ".."))
		return false;
	for (; *s; s++) {
		if (!isalnum((unsigned char)*s) && !strchr("._-", *s))
			return false;
	}
	return true;
}

int setting_check(const char *key, const char *value, struct err *e)
{
	static const char *const thp[] = { "never", "madvise", "always", NULL };
	static const char *const on_off[] = { "on", "off", NULL };

	if (!strcmp(key, "thp"))
		return is_one_of(value, thp)
			       ? 0
			       : err_set(e, ERR_INVAL,
					 "thp '%.80s' has to be never, madvise or always", value);
	if (!strcmp(key, "smt") || !strcmp(key, "turbo"))
		return is_one_of(value, on_off)
			       ? 0
			       : err_set(e, ERR_INVAL, "%s '%.80s' has to be on or off", key,
					 value);
	if (!strcmp(key, "governor"))
		return word_is_safe(value, 32)
			       ? 0
			       : err_set(e, ERR_INVAL, "governor '%.80s' is no word", value);
	if (!strncmp(key, "sysctl.", 7) && sysctl_name_is_safe(key + 7))
		return strlen(value) <= 256 && !strpbrk(value, "\n\r")
			       ? 0
			       : err_set(e, ERR_INVAL, "%s: the value is not one short line", key);
	return err_set(e, ERR_INVAL,
		       "no setting '%.80s', there are: thp, governor, smt, turbo, sysctl.NAME",
		       key);
}

const char *setting_get(const struct lab_request *q, const char *key)
{
	for (size_t i = 0; i < q->nsettings; i++) {
		if (!strcmp(q->settings[i].key, key))
			return q->settings[i].value;
	}
	return NULL;
}

void driver_progress(const struct lab_request *q, enum lab_state state)
{
	if (q->progress)
		q->progress(q->progress_arg, state);
}

static int request_check(const struct lab_request *q, struct err *e)
{
	const struct suite *suite = suite_find(q->suite);

	if (!suite)
		return err_set(e, ERR_NOENT, "no suite '%s', there are: %s", q->suite,
			       suite_names());
	if (!q->nonce || !word_is_safe(q->nonce, 64))
		return err_set(e, ERR_INVAL, "nonce '%s' has to be 1 to 64 letters and digits",
			       q->nonce ? q->nonce : "");
	if (q->runs < 1 || q->runs > 1000)
		return err_set(e, ERR_RANGE, "%u runs on one boot, it has to be 1 to 1000",
			       q->runs);
	for (size_t i = 0; i < q->nsettings; i++) {
		int r = setting_check(q->settings[i].key, q->settings[i].value, e);

		if (r < 0)
			return r;
	}
	return suite_check(suite, q->test, q->params, q->nparams, e);
}

static int boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
		struct err *e)
{
	int r = request_check(q, e);

	if (r < 0)
		return r;
	if (!strcmp(m->driver, "qemu"))
		return qemu_boot(m, q, ret, e);
	if (!strcmp(m->driver, "netboot"))
		return netboot_boot(m, q, ret, e);
	if (!strcmp(m->driver, "ssh"))
		return ssh_boot(m, q, ret, e);
	if (!strcmp(m->driver, "local"))
		return local_boot(m, q, ret, e);
	return err_set(e, ERR_INVAL, "no driver '%s', there are: qemu, netboot, ssh, local",
		       m->driver);
}

int lab_boot(const struct lab_machine *m, const struct lab_request *q, struct lab_result *ret,
	     struct err *e)
{
	double start_s = driver_now_s();
	struct err own = { 0 };
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->boot_s = ret->setup_s = NAN;
	r = boot(m, q, ret, &own);
	ret->total_s = driver_now_s() - start_s;
	if (r < 0) {
		/* What the machine did before does not matter any more: nothing may be blamed on it. */
		free(ret->detail);
		ret->class = LAB_FAULT;
		ret->detail = xstrdup(own.msg);
		if (e)
			*e = own;
		return err_wrap(e ? e : &own, "machine '%s'", m->name);
	}
	return 0;
}

void lab_result_done(struct lab_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nruns; i++) {
		free(r->runs[i].detail);
		free(r->runs[i].raw);
		free(r->runs[i].errors);
		json_decref(r->runs[i].rusage);
		json_decref(r->runs[i].programs);
		json_decref(r->runs[i].monitors);
		json_decref(r->runs[i].facts);
		for (size_t k = 0; k < r->runs[i].nfiles; k++) {
			free(r->runs[i].files[k].name);
			free(r->runs[i].files[k].data);
		}
		free(r->runs[i].files);
	}
	free(r->runs);
	free(r->detail);
	free(r->boot_id);
	free(r->accel_used);
	free(r->console);
	json_decref(r->facts);
	json_decref(r->settings);
	memset(r, 0, sizeof(*r));
}
