/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lab_boot() from a command line: the tests of the drivers on the real thing are scripts. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "runners/drivers/driver.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <string.h>

static volatile int cancel;

static struct lab_machine machine = { .name = "guest" };
static struct lab_request request = { .suite = "will-it-scale", .runs = 1, .nonce = "n-1" };
static struct suite_param params[32], settings[32];
static double runs = 1, cpus, port;

static const struct {
	const char *key;
	const char **value;
} texts[] = {
	{ "name", &machine.name },
	{ "driver", &machine.driver },
	{ "accel", &machine.accel },
	{ "append", &machine.append },
	{ "qemu", &machine.qemu },
	{ "workloads", &machine.workloads_path },
	{ "agent", &machine.agent_path },
	{ "power-on", &machine.power.on },
	{ "power-off", &machine.power.off },
	{ "power-status", &machine.power.status },
	{ "console", &machine.console_command },
	{ "host", &machine.ssh.host },
	{ "user", &machine.ssh.user },
	{ "key-file", &machine.ssh.key_file },
	{ "known-hosts", &machine.ssh.known_hosts_file },
	{ "boot", &machine.ssh.boot },
	{ "boot-command", &machine.ssh.boot_command },
	{ "dir", &machine.ssh.dir },
	{ "initrd", &machine.ssh.initrd },
	{ "kernel", &request.kernel_path },
	{ "build-id", &request.build_id },
	{ "suite", &request.suite },
	{ "test", &request.test },
	{ "nonce", &request.nonce },
	{ "scratch", &request.scratch_dir },
};

static const struct {
	const char *key;
	double *value;
} numbers[] = {
	{ "boot-timeout", &machine.boot_timeout_s },
	{ "silence-timeout", &machine.silence_timeout_s },
	{ "first-byte-timeout", &machine.first_byte_timeout_s },
	{ "power-off-time", &machine.power.off_s },
	{ "power-timeout", &machine.power.timeout_s },
	{ "total-timeout", &request.total_timeout_s },
	{ "runs", &runs },
	{ "cpus", &cpus },
	{ "port", &port },
};

static void on_term(int sig)
{
	cancel = sig;
}

static bool pair_add(struct suite_param *list, size_t *n, const char *key, char *value)
{
	if (*n >= ARRAY_SIZE(params))
		return false;
	list[*n].key = xstrdup(key);
	list[(*n)++].value = value;
	return true;
}

static bool take(char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return false;
	*value++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!strcmp(word, texts[i].key)) {
			*texts[i].value = value;
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!strcmp(word, numbers[i].key)) {
			*numbers[i].value = strtod(value, NULL);
			return true;
		}
	}
	if (!strncmp(word, "param.", 6))
		return pair_add(params, &request.nparams, word + 6, value);
	if (!strncmp(word, "set.", 4))
		return pair_add(settings, &request.nsettings, word + 4, value);
	if (!strcmp(word, "owned"))
		machine.owned = !strcmp(value, "true");
	else
		return false;
	return true;
}

static json_t *seconds(double s)
{
	return isfinite(s) ? json_real(s) : json_null();
}

static void print(const struct lab_result *r)
{
	json_t *o = json_object(), *list = json_array();

	(void)json_object_set_new(o, "class", json_string(lab_class_name(r->class)));
	(void)json_object_set_new(o, "detail", json_string(r->detail ? r->detail : ""));
	(void)json_object_set_new(o, "boot_id", json_string(r->boot_id ? r->boot_id : ""));
	(void)json_object_set_new(o, "accel_used", json_string(r->accel_used ? r->accel_used : ""));
	(void)json_object_set_new(o, "boot_s", seconds(r->boot_s));
	(void)json_object_set_new(o, "setup_s", seconds(r->setup_s));
	(void)json_object_set_new(o, "total_s", seconds(r->total_s));
	(void)json_object_set_new(o, "power_cycles", json_integer(r->power_cycles));
	(void)json_object_set_new(o, "facts", r->facts ? json_incref(r->facts) : json_null());
	(void)json_object_set_new(o, "settings",
				  r->settings ? json_incref(r->settings) : json_null());
	for (size_t i = 0; i < r->nruns; i++) {
		const struct lab_run *run = &r->runs[i];
		json_t *x = json_object();

		(void)json_object_set_new(x, "class", json_string(lab_class_name(run->class)));
		(void)json_object_set_new(x, "detail", json_string(run->detail ? run->detail : ""));
		(void)json_object_set_new(x, "exit_status", json_integer(run->exit_status));
		(void)json_object_set_new(x, "wall_s", seconds(run->wall_s));
		(void)json_object_set_new(x, "clock_jump_s", seconds(run->clock_jump_s));
		(void)json_object_set_new(
			x, "raw", json_stringn_nocheck(run->raw ? run->raw : "", run->raw_len));
		(void)json_array_append_new(list, x);
	}
	(void)json_object_set_new(o, "runs", list);
	(void)json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	(void)putchar('\n');
	json_decref(o);
}

int main(int argc, char **argv)
{
	struct sigaction term = { .sa_handler = on_term };
	const char *console_file = NULL;
	struct lab_result result;
	struct err e = { 0 };
	int r;

	(void)sigaction(SIGTERM, &term, NULL);
	(void)sigaction(SIGINT, &term, NULL);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "console-file=", 13)) {
			console_file = argv[i] + 13;
		} else if (!take(argv[i])) {
			(void)fprintf(stderr, "lab_boot: no setting '%s'\n", argv[i]);
			return 2;
		}
	}
	request.params = params;
	request.settings = settings;
	request.runs = (unsigned)runs;
	request.cancel = &cancel;
	machine.cpus = (int)cpus;
	machine.ssh.port = (int)port;
	r = lab_boot(&machine, &request, &result, &e);
	if (r < 0)
		(void)fprintf(stderr, "lab_boot: %s\n", e.msg);
	print(&result);
	if (console_file && result.console) {
		FILE *f = fopen(console_file, "we");

		if (f) {
			(void)fwrite(result.console, 1, result.console_len, f);
			(void)fclose(f);
		}
	}
	lab_result_done(&result);
	return r < 0;
}
