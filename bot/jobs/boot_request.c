/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/boot_request.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/jobs/lab_netboot.h"
#include "bot/lab/run_parse.h"

#include <string.h>

const char *boot_suite_path(const struct config *c, const char *suite, const char *group)
{
	_cleanup_(freep) const char **groups = NULL;

	if (!config_has(c, "suite", suite))
		return NULL;
	groups = config_all(c, "suite", suite, "group");
	for (size_t i = 0; groups[i]; i++)
		if (!strcmp(groups[i], group))
			return config_str(c, "suite", suite, "path");
	return groups[0] ? NULL : config_str(c, "suite", suite, "path");
}

static struct lab_power power_of(const struct config *cfg, const char *m)
{
	return (struct lab_power){
		.on = config_str(cfg, "machine", m, "power-on"),
		.off = config_str(cfg, "machine", m, "power-off"),
		.status = config_str(cfg, "machine", m, "power-status"),
		.ipmi_host = config_str(cfg, "machine", m, "ipmi"),
		.ipmi_user = config_str(cfg, "machine", m, "ipmi-user"),
		.ipmi_password_file = config_str(cfg, "machine", m, "ipmi-password-file"),
		.off_s = config_f64(cfg, "machine", m, "power-off-time"),
		.timeout_s = config_f64(cfg, "machine", m, "power-timeout"),
	};
}

static struct lab_ssh ssh_of(const struct config *cfg, const char *m)
{
	return (struct lab_ssh){
		.host = config_str(cfg, "machine", m, "host"),
		.user = config_str(cfg, "machine", m, "user"),
		.key_file = config_str(cfg, "machine", m, "key-file"),
		.known_hosts_file = config_str(cfg, "machine", m, "known-hosts"),
		.port = (int)config_i64(cfg, "machine", m, "port"),
		.boot = config_str(cfg, "machine", m, "boot"),
		.boot_command = config_str(cfg, "machine", m, "boot-command"),
		.dir = config_str(cfg, "machine", m, "dir"),
		.initrd = config_str(cfg, "machine", m, "initrd"),
	};
}

static struct lab_machine machine_of(const struct job_ctx *c, const struct boot_request *q)
{
	const struct config *cfg = c->config;
	const char *m = c->machine;

	return (struct lab_machine){
		.name = m,
		.driver = config_str(cfg, "machine", m, "driver"),
		.accel = config_str(cfg, "machine", m, "accel"),
		.cpus = (int)config_i64(cfg, "machine", m, "cpus"),
		.memory_bytes = (uint64_t)config_i64(cfg, "machine", m, "memory"),
		.icount_shift = (int)config_i64(cfg, "machine", m, "icount-shift"),
		.qemu = config_str(cfg, "machine", m, "qemu"),
		.append = config_str(cfg, "machine", m, "append"),
		.boot_timeout_s = config_f64(cfg, "machine", m, "boot-timeout"),
		.silence_timeout_s = config_f64(cfg, "machine", m, "silence-timeout"),
		.agent_path = q->agent,
		.workloads_path = q->workloads,
		.overlay = config_str(cfg, "machine", m, "overlay"),
		.owned = config_bool(cfg, "machine", m, "owned"),
		.mac = config_str(cfg, "machine", m, "mac"),
		.console_command = config_str(cfg, "machine", m, "console"),
		.power = power_of(cfg, m),
		.ssh = ssh_of(cfg, m),
	};
}

/* The job's settings, and thp, which has its own column. */
static void fill_settings(struct boot_request *q, const struct job *job)
{
	size_t n;

	q->settings = params_of_json(job->settings, &n);
	if (strcmp(job->thp, "keep") != 0) {
		q->settings = xreallocarray(q->settings, n + 2, sizeof(*q->settings));
		q->settings[n++] =
			(struct suite_param){ .key = xstrdup("thp"), .value = xstrdup(job->thp) };
	}
	q->request.settings = q->settings;
	q->request.nsettings = n;
}

static void fill_monitors(struct boot_request *q, const struct job *job)
{
	size_t n = json_array_size(job->monitors);

	q->monitors = xcalloc(n + 1, sizeof(*q->monitors));
	for (size_t i = 0; i < n; i++)
		q->monitors[i] = json_string_value(json_array_get(job->monitors, i));
	q->request.monitors = q->monitors;
	q->request.monitor_interval_s = job->monitor_interval_s;
}

int boot_request_make(struct job_ctx *c, const struct job *job, struct boot_request *ret,
		      struct err *e)
{
	int r = 0;

	ret->agent = xasprintf("%s/kperfbot-agent", c->programs);
	ret->workloads = xasprintf("%s/kperfbot-workloads", c->programs);
	ret->params = params_of_json(job->params, &ret->nparams);
	ret->machine = machine_of(c, ret);
	ret->request = (struct lab_request){
		.suite = job->suite,
		.test = job->test,
		.params = ret->params,
		.nparams = ret->nparams,
		.aslr = job->aslr,
		.suite_path = boot_suite_path(c->config, job->suite, job->group),
		.total_timeout_s = job->timeout_s,
	};
	fill_settings(ret, job);
	fill_monitors(ret, job);
	if (!strcmp(ret->machine.driver, "netboot"))
		r = lab_netboot_store_new(c, &ret->netboot, &ret->machine.netboot, e);
	return r;
}

void boot_request_done(struct boot_request *q)
{
	params_free(q->params, q->nparams);
	params_free(q->settings, q->request.nsettings);
	free(q->monitors);
	free(q->agent);
	free(q->workloads);
	lab_netboot_store_free(q->netboot);
	*q = (struct boot_request){ 0 };
}
