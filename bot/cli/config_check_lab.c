/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/config_check_lab.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/store/job_settings.h"
#include "bot/store/machine.h"
#include "runners/drivers/driver.h"
#include "runners/drivers/drivers.h"
#include "runners/drivers/power.h"
#include "runners/drivers/ssh_remote.h"
#include "runners/suites/suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int of_section(struct err *e, const char *section, const char *name)
{
	(void)err_wrap(e, "%s.%s", section, name);
	e->code = ERR_CONFIG;
	return ERR_CONFIG;
}

/*
 * A key of another driver does nothing: who gave it thinks that it does. The manual's sentence on a
 * key begins with the drivers that read it, where it is not for all.
 */
static int check_keys(const struct config *c, const char *name, const char *driver, struct err *e)
{
	const struct config_key *k;
	size_t n;

	k = config_keys(&n);
	for (; n > 0; n--, k++) {
		size_t len = strcspn(k->doc, ":.");
		_cleanup_(freep) char *drivers = xstrndup(k->doc, len);
		const char *v;

		if (strcmp(k->section, "machine") != 0 || k->doc[len] != ':' ||
		    (strncmp(drivers, "qemu", 4) != 0 && strncmp(drivers, "netboot", 7) != 0 &&
		     strncmp(drivers, "ssh", 3) != 0) ||
		    strstr(drivers, driver))
			continue;
		v = config_str(c, "machine", name, k->key);
		if (v && (!k->fallback || strcmp(v, k->fallback) != 0))
			return err_set(
				e, ERR_CONFIG,
				"machine.%s.%s: driver %s has no use for '%.80s', it is for %s",
				name, k->key, driver, v, drivers);
	}
	return 0;
}

int config_check_driver(const struct config *c, const char *name, struct err *e)
{
	const char *driver = config_str(c, "machine", name, "driver");
	struct lab_ssh ssh = {
		.host = config_str(c, "machine", name, "host"),
		.user = config_str(c, "machine", name, "user"),
		.key_file = config_str(c, "machine", name, "key-file"),
		.known_hosts_file = config_str(c, "machine", name, "known-hosts"),
		.port = (int)config_i64(c, "machine", name, "port"),
		.boot = config_str(c, "machine", name, "boot"),
		.boot_command = config_str(c, "machine", name, "boot-command"),
		.dir = config_str(c, "machine", name, "dir"),
		.initrd = config_str(c, "machine", name, "initrd"),
	};
	struct lab_power power = {
		.on = config_str(c, "machine", name, "power-on"),
		.off = config_str(c, "machine", name, "power-off"),
		.status = config_str(c, "machine", name, "power-status"),
		.ipmi_host = config_str(c, "machine", name, "ipmi"),
		.ipmi_user = config_str(c, "machine", name, "ipmi-user"),
		.ipmi_password_file = config_str(c, "machine", name, "ipmi-password-file"),
	};

	if (check_keys(c, name, driver, e) < 0)
		return ERR_CONFIG;
	if (!strcmp(driver, "ssh") && ssh_check(&ssh, e) < 0)
		return of_section(e, "machine", name);
	if (power_check(&power, e) < 0)
		return of_section(e, "machine", name);
	if (power.ipmi_host && access(power.ipmi_password_file, R_OK) < 0) {
		(void)err_errno(e, errno, "cannot read ipmi-password-file '%.200s'",
				power.ipmi_password_file);
		return of_section(e, "machine", name);
	}
	return 0;
}

static bool group_exists(const struct config *c, const char *group)
{
	_cleanup_(freep) const char **machines = config_names(c, "machine");

	for (size_t i = 0; machines[i]; i++)
		if (!strcmp(machine_group(c, machines[i]), group))
			return true;
	return false;
}

int config_check_suite(const struct config *c, const char *name, struct err *e)
{
	_cleanup_(freep) const char **groups = config_all(c, "suite", name, "group");
	const char *path = config_str(c, "suite", name, "path");

	if (!suite_find(name))
		return err_set(e, ERR_CONFIG,
			       "[suite \"%.80s\"]: there is no such suite; suites are %s", name,
			       suite_names());
	/* Commands start in a folder of their own on the lab machine. */
	if (path && *path != '/')
		return err_set(e, ERR_CONFIG, "suite.%s.path: '%.200s' has to begin with '/'", name,
			       path);
	if (!path && groups[0])
		return err_set(e, ERR_CONFIG, "suite.%s.group: there is no path for it to have",
			       name);
	for (size_t i = 0; groups[i]; i++)
		if (!group_exists(c, groups[i]))
			return err_set(e, ERR_CONFIG,
				       "suite.%s.group: no machine is in group '%.80s'", name,
				       groups[i]);
	return 0;
}

int config_check_settings(const struct config *c, const char *name, struct err *e)
{
	_cleanup_(json_decrefp) json_t *settings = NULL;
	const char *key;
	json_t *value;

	if (job_settings_read(c, name, &settings, e) < 0)
		return ERR_CONFIG;
	json_object_foreach (settings, key, value) {
		if (setting_check(key, json_string_value(value), e) < 0)
			return of_section(e, "job", name);
	}
	return 0;
}
