/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/cli/config_check.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/build/build.h"
#include "bot/cli/config_check_lab.h"
#include "bot/mail/address.h"
#include "bot/mail/send.h"
#include "bot/store/job.h"
#include "bot/store/job_def.h"
#include "bot/store/netboot.h"
#include "bot/watch/remote.h"

#include <arpa/inet.h>
#include <string.h>

/* The reason keeps its own words; the code is that of a configuration. */
static int wrong(struct err *e, const char *section, const char *name, const char *key)
{
	(void)err_wrap(e, "%s%s%s.%s", section, name ? "." : "", name ? name : "", key);
	e->code = ERR_CONFIG;
	return ERR_CONFIG;
}

static int check_address(const struct config *c, const char *section, const char *name,
			 const char *key, struct err *e)
{
	const char *addr = config_str(c, section, name, key);

	if (addr && address_check(addr, strlen(addr), e) < 0)
		return wrong(e, section, name, key);
	return 0;
}

static int check_addresses(const struct config *c, const char *section, const char *name,
			   const char *key, struct err *e)
{
	_cleanup_(freep) const char **all = config_all(c, section, name, key);

	for (size_t i = 0; all[i]; i++)
		if (address_check(all[i], strlen(all[i]), e) < 0)
			return wrong(e, section, name, key);
	return 0;
}

static int check_mail(const struct config *c, struct err *e)
{
	const char *host = config_str(c, "mail", NULL, "host");
	struct mail_server server = {
		.url = config_str(c, "mail", NULL, "server"),
		.user = config_str(c, "mail", NULL, "user"),
		.password_file = config_str(c, "mail", NULL, "password-file"),
		.tls = !strcmp(config_str(c, "mail", NULL, "tls"), "off")
			       ? MAIL_TLS_NONE_ON_LOOPBACK
			       : MAIL_TLS_REQUIRED,
	};

	if (!address_domain_check(host, strlen(host))) {
		(void)err_set(e, ERR_CONFIG, "'%.80s' is not a host name", host);
		return wrong(e, "mail", NULL, "host");
	}
	if (check_address(c, "mail", NULL, "operator", e) < 0 ||
	    check_addresses(c, "mail", NULL, "stop", e) < 0)
		return ERR_CONFIG;
	if (server.url && mail_server_check(&server, e) < 0)
		return wrong(e, "mail", NULL, "server");
	return 0;
}

static int check_tree(const struct config *c, const char *name, struct err *e)
{
	_cleanup_(freep) const char **branches = config_all(c, "tree", name, "branch");

	if (remote_url_check(config_str(c, "tree", name, "url"),
			     config_bool(c, "tree", name, "allow-file"), e) < 0)
		return wrong(e, "tree", name, "url");
	for (size_t i = 0; branches[i]; i++)
		if (remote_pattern_check(branches[i], e) < 0)
			return wrong(e, "tree", name, "branch");
	if (check_address(c, "tree", name, "owner", e) < 0 ||
	    check_addresses(c, "tree", name, "list", e) < 0)
		return ERR_CONFIG;
	if (!strcmp(config_str(c, "tree", name, "mail"), "operator") &&
	    !config_str(c, "mail", NULL, "operator")) {
		(void)err_set(e, ERR_CONFIG, "'operator' needs operator = ADDRESS in [mail]");
		return wrong(e, "tree", name, "mail");
	}
	return 0;
}

/* Whether the tree has such a make target is seen by the first build. */
static int check_kconfig(const struct config *c, const char *name, struct err *e)
{
	_cleanup_(freep) const char **fragments = config_all(c, "kconfig", name, "fragment");
	const char *base = config_str(c, "kconfig", name, "base");
	char hash[65];
	size_t n = 0;

	if (build_kconfig_hash(base, NULL, 0, hash, e) < 0)
		return wrong(e, "kconfig", name, "base");
	while (fragments[n])
		n++;
	if (build_kconfig_hash(base, fragments, n, hash, e) < 0)
		return wrong(e, "kconfig", name, "fragment");
	return 0;
}

static int missing(struct err *e, const char *name, const char *key, const char *why)
{
	(void)err_set(e, ERR_CONFIG, "%s", why);
	return wrong(e, "machine", name, key);
}

static int bad_url(struct err *e, const char *name, const char *url, const char *why)
{
	(void)err_set(e, ERR_CONFIG, "%s ('%.80s')", why, url);
	return wrong(e, "machine", name, "url");
}

/* The agent has no name service: the address has to be one. */
static int check_netboot_url(const char *name, const char *url, struct err *e)
{
	_cleanup_(freep) char *address = NULL;
	const char *host, *port;
	unsigned char bytes[16];
	int64_t number;
	size_t n;

	if (!url)
		return 0;
	if (strncmp(url, "http://", 7) != 0)
		return bad_url(e, name, url, "it has to begin with http://");
	host = url + 7;
	n = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":/");
	address = host[0] == '[' ? xstrndup(host + 1, n - 1) : xstrndup(host, n);
	if (inet_pton(host[0] == '[' ? AF_INET6 : AF_INET, address, bytes) != 1)
		return bad_url(
			e, name, url,
			"the host has to be an address in numbers, lab machines look up no names");
	if (host[0] == '[' && !host[n])
		return bad_url(e, name, url, "it has to be like http://192.0.2.1:8080");
	port = host + n + (host[0] == '[');
	if (*port == ':') {
		_cleanup_(freep) char *digits = xstrndup(port + 1, strcspn(port + 1, "/"));

		if (parse_i64(digits, 1, 65535, &number, NULL) < 0)
			return bad_url(e, name, url, "its port has to be 1 to 65535");
	} else if (*port && *port != '/') {
		return bad_url(e, name, url, "it has to be like http://192.0.2.1:8080");
	}
	return 0;
}

/* One way to switch it on and off: a boot cannot begin or end without. */
static int check_power(const struct config *c, const char *name, struct err *e)
{
	const char *on = config_str(c, "machine", name, "power-on");
	const char *off = config_str(c, "machine", name, "power-off");
	const char *ipmi = config_str(c, "machine", name, "ipmi");

	if (!on && !off && !ipmi)
		return missing(
			e, name, "power-on",
			"driver netboot needs a power control: power-on and power-off, or ipmi");
	if (ipmi && (on || off))
		return missing(e, name, "ipmi",
			       "there are power commands too, it has to be one of them");
	if (ipmi && !config_str(c, "machine", name, "ipmi-user"))
		return missing(e, name, "ipmi-user", "ipmi needs a user");
	if (ipmi && !config_str(c, "machine", name, "ipmi-password-file"))
		return missing(e, name, "ipmi-password-file",
			       "ipmi needs a file with the password");
	if (!ipmi && !on != !off)
		return missing(e, name, on ? "power-off" : "power-on",
			       "power-on and power-off need each other");
	return 0;
}

static int check_mac(const struct config *c, const char *name, struct err *e)
{
	_cleanup_(freep) const char **names = config_names(c, "machine");
	const char *mac = config_str(c, "machine", name, "mac");
	char mine[18], other[18];

	if (!mac)
		return missing(e, name, "mac",
			       "driver netboot needs the address of the network card, like "
			       "52:54:00:12:34:56");
	if (netboot_mac_parse(mac, mine, e) < 0)
		return wrong(e, "machine", name, "mac");
	for (size_t i = 0; names[i] && strcmp(names[i], name) != 0; i++) {
		mac = config_str(c, "machine", names[i], "mac");
		if (mac && netboot_mac_parse(mac, other, NULL) == 0 && !strcmp(mine, other)) {
			(void)err_set(e, ERR_CONFIG, "machine '%s' has the same", names[i]);
			return wrong(e, "machine", name, "mac");
		}
	}
	return 0;
}

static int check_machine(const struct config *c, const char *name, struct err *e)
{
	if (strcmp(config_str(c, "machine", name, "driver"), "netboot") != 0)
		return config_check_driver(c, name, e);
	if (check_mac(c, name, e) < 0 ||
	    check_netboot_url(name, config_str(c, "machine", name, "url"), e) < 0)
		return ERR_CONFIG;
	if (check_power(c, name, e) < 0)
		return ERR_CONFIG;
	return config_check_driver(c, name, e);
}

static int check_job(const struct config *c, const char *name, struct err *e)
{
	if (job_check(c, name, e) < 0)
		return ERR_CONFIG;
	return config_check_settings(c, name, e);
}

static int check_each(const struct config *c, const char *section,
		      int (*check)(const struct config *c, const char *name, struct err *e),
		      struct err *e)
{
	_cleanup_(freep) const char **names = config_names(c, section);

	for (size_t i = 0; names[i]; i++)
		if (check(c, names[i], e) < 0) {
			e->code = ERR_CONFIG;
			return ERR_CONFIG;
		}
	return 0;
}

int config_check(const struct config *c, struct err *e)
{
	_cleanup_(freep) char *host = NULL, *port = NULL;
	_cleanup_(job_defs_done) struct job_defs jobs = { 0 };

	if (parse_listen(config_str(c, "web", NULL, "listen"), &host, &port, e) < 0)
		return wrong(e, "web", NULL, "listen");
	if (check_mail(c, e) < 0 || check_each(c, "tree", check_tree, e) < 0 ||
	    check_each(c, "kconfig", check_kconfig, e) < 0 ||
	    check_each(c, "machine", check_machine, e) < 0 ||
	    check_each(c, "suite", config_check_suite, e) < 0 ||
	    check_each(c, "job", check_job, e) < 0)
		return ERR_CONFIG;
	/* Names of the jobs that one section makes may be those of another. */
	return job_defs_all(c, &jobs, e);
}
