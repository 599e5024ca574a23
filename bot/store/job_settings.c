/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/job_settings.h"

#include "bot/base/cleanup.h"
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/monitor.h"

#include <ctype.h>
#include <string.h>

static bool sysctl_name_is_good(const char *s, size_t len)
{
	if (!len || len > 128 || !isalpha((unsigned char)*s))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
			return false;
	return true;
}

int job_settings_read(const struct config *c, const char *section, json_t **ret, struct err *e)
{
	static const char *const words[] = { "governor", "smt", "turbo" };
	_cleanup_(json_decrefp) json_t *o = json_object();
	_cleanup_(freep) const char **sysctls = config_all(c, "job", section, "sysctl");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *v = config_str(c, "job", section, words[i]);

		if (v && strcmp(v, "keep") != 0)
			json_set_str(o, words[i], v);
	}
	for (size_t i = 0; sysctls[i]; i++) {
		const char *equal = strchr(sysctls[i], '=');
		_cleanup_(freep) char *key = NULL;

		if (!equal || !equal[1] ||
		    !sysctl_name_is_good(sysctls[i], (size_t)(equal - sysctls[i])))
			return err_set(
				e, ERR_CONFIG,
				"job.%s.sysctl: '%.80s' has to be NAME=VALUE, e.g. vm.swappiness=0",
				section, sysctls[i]);
		key = xasprintf("sysctl.%.*s", (int)(equal - sysctls[i]), sysctls[i]);
		json_set_str(o, key, equal + 1);
	}
	*ret = json_incref(o);
	return 0;
}

int job_monitors_read(const struct config *c, const char *section, const char ***ret, struct err *e)
{
	_cleanup_(freep) const char **words = config_all(c, "job", section, "monitor");
	const struct monitor *m;
	const char **list;
	size_t n = 0;
	bool none = false;

	for (size_t i = 0; words[i]; i++)
		none |= !strcmp(words[i], "none");
	for (size_t i = 0; words[i]; i++) {
		if (none && words[1])
			return err_set(e, ERR_CONFIG,
				       "job.%s.monitor: none stands together with others", section);
		if (!none && strcmp(words[i], "default") != 0 && !monitor_find(words[i]))
			return err_set(
				e, ERR_CONFIG,
				"job.%s.monitor: there is no monitor '%.80s'; say default, none or %s",
				section, words[i], monitor_names());
	}
	while (monitor_list(n))
		n++;
	list = xcalloc(n + 1, sizeof(*list));
	n = 0;
	for (size_t i = 0; !none && (m = monitor_list(i)); i++) {
		bool wanted = !words[0] && m->cheap;

		for (size_t k = 0; words[k]; k++)
			wanted |= !strcmp(words[k], m->name) ||
				  (m->cheap && !strcmp(words[k], "default"));
		if (wanted)
			list[n++] = m->name;
	}
	*ret = list;
	return 0;
}
