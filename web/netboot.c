/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For machines that boot over the network: their iPXE script, kernel and initramfs, and the stream
 * between driver and agent. The secret in the address is the proof: 128 bits, for one offer.
 */
#include "bot/store/netboot.h"

#include "bot/base/config.h"
#include "bot/base/parse.h"
#include "bot/db/db.h"
#include "web/db_pool.h"
#include "web/request.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/stat.h>

/* The bits of runners/drivers/driver.h, which web/ does not include. */
#define FETCHED_KERNEL 2u
#define FETCHED_INITRD 4u
#define STREAM_BEGUN   8u
#define LOAD_FAILED    16u

/* A host as a machine names it: it goes into a script, so nothing but a name or an address. */
static bool host_is_plain(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr(".:-[]", s[i]))
			return false;
	return n > 0 && n <= 128;
}

/*
 * How the machine reaches us, without a slash at the end: as configured for it, else as it called us,
 * since that has just worked.
 */
static char *base_url(const struct request *q, const char *machine)
{
	const struct config *c = q->o->config;
	const char *host = MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, "Host");
	const char *url = NULL;
	size_t n;

	if (machine && config_has(c, "machine", machine))
		url = config_str(c, "machine", machine, "url");
	if (!url && host && host_is_plain(host))
		return xasprintf("http://%s", host);
	if (!url)
		url = config_str(c, "kperfbot", NULL, "url");
	n = strlen(url);
	while (n && url[n - 1] == '/')
		n--;
	return xstrndup(url, n);
}

static const char *machine_with(const struct config *c, const char *mac)
{
	_cleanup_(freep) const char **names = config_names(c, "machine");

	for (size_t i = 0; names[i]; i++) {
		const char *have = config_str(c, "machine", names[i], "mac");
		char norm[18];

		if (have && netboot_mac_parse(have, norm, NULL) == 0 && !strcmp(norm, mac))
			return names[i];
	}
	return NULL;
}

static void answer_script(struct request *q, struct strbuf *s)
{
	answer_text(q, 200, "text/plain; charset=utf-8", strbuf_str(s));
}

/* Asks again after @wait_s, for ever: the machine has nothing better to do. */
static void add_retry(struct strbuf *s, const char *base, const char *mac, int wait_s, bool failed)
{
	strbuf_addf(s,
		    ":again\n"
		    "sleep %d\n"
		    "chain --replace %s/netboot/boot.ipxe?mac=%s%s || goto again\n",
		    wait_s, base, mac, failed ? "&failed=1" : "");
}

static void script_offer(struct request *q, const struct netboot_script *n, const char *mac)
{
	_cleanup_(strbuf_done) struct strbuf s = STRBUF_INIT;
	_cleanup_(freep) char *base = base_url(q, n->machine);
	_cleanup_(freep) char *append = xstrdup(n->append);

	for (char *p = append; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = ' ';
	strbuf_addf(&s,
		    "#!ipxe\n"
		    "echo kperfbot: booting\n"
		    "kernel %s/netboot/%s/kernel initrd=initrd %s kperfbot.url=%s/netboot/%s/stream"
		    " || goto failed\n"
		    "initrd --name initrd %s/netboot/%s/initrd || goto failed\n"
		    "boot || goto failed\n"
		    ":failed\n"
		    "echo kperfbot: could not load, trying again\n"
		    "imgfree ||\n",
		    base, n->secret, append, base, n->secret, base, n->secret);
	add_retry(&s, base, mac, 3, true);
	answer_script(q, &s);
}

static void script_nothing(struct request *q, const char *mac)
{
	_cleanup_(strbuf_done) struct strbuf s = STRBUF_INIT;
	_cleanup_(freep) char *base = NULL;

	strbuf_addstr(&s, "#!ipxe\n");
	if (machine_with(q->o->config, mac)) {
		strbuf_addstr(&s,
			      "echo kperfbot: nothing to do, on to the next boot device\nexit\n");
	} else {
		base = base_url(q, NULL);
		strbuf_addf(&s, "echo kperfbot: no machine has the address %s\n", mac);
		add_retry(&s, base, mac, 60, false);
	}
	answer_script(q, &s);
}

static void script_away(struct request *q, const char *mac, bool failed)
{
	_cleanup_(strbuf_done) struct strbuf s = STRBUF_INIT;
	_cleanup_(freep) char *base = base_url(q, machine_with(q->o->config, mac));

	strbuf_addstr(&s, "#!ipxe\necho kperfbot: the database is away, trying again\n");
	add_retry(&s, base, mac, 5, failed);
	answer_script(q, &s);
}

/* The server may have gone and come back since the last request: one more try. */
static int get_script(struct request *q, const char *mac, unsigned bits, struct netboot_script *ret,
		      struct err *e)
{
	int r = db_pool_get(q->o, &q->db, e);

	if (r == 0)
		r = netboot_script(q->db, mac, bits, ret, e);
	if (r == ERR_DB_AWAY && q->db)
		r = netboot_script(q->db, mac, bits, ret, e);
	return r;
}

int serve_netboot_script(struct request *q, struct err *e)
{
	_cleanup_(netboot_script_done) struct netboot_script n = { 0 };
	const char *asked = url_query(&q->url, "mac");
	bool failed = url_query(&q->url, "failed") != NULL;
	char mac[18];
	int r;

	r = netboot_mac_parse(asked ? asked : "", mac, e);
	if (r < 0)
		return r;
	r = get_script(q, mac, failed ? LOAD_FAILED : 0, &n, e);
	if (r == 0 && !(n.events & STREAM_BEGUN))
		script_offer(q, &n, mac);
	else if (r == 0 || r == ERR_NOENT)
		/* An offer is for one boot: who comes again has crashed, and the driver sees it. */
		script_nothing(q, mac);
	else if (err_is_transient(r))
		script_away(q, mac, failed);
	else
		return r;
	return 0;
}

static int find(struct request *q, char **ret_machine, struct err *e)
{
	int r = netboot_find(q->db, q->arg, ret_machine, e);

	return r == ERR_DB_AWAY ? netboot_find(q->db, q->arg, ret_machine, e) : r;
}

static int serve_file(struct request *q, unsigned bit, struct err *e)
{
	const char *state = config_str(q->o->config, "kperfbot", NULL, "state");
	_cleanup_(freep) char *machine = NULL;
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int fd = -1;
	struct stat st;
	char kernel[65], initrd[65];
	const char *hash = bit == FETCHED_KERNEL ? kernel : initrd;
	int r;

	r = find(q, &machine, e);
	if (r == 0)
		r = netboot_fetch(q->db, machine, q->arg, 0, kernel, initrd, e);
	if (r < 0)
		return r;
	if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
		return err_set(e, ERR_BUG, "'%s' is no SHA-256", hash);
	path = xasprintf("%s/artefacts/%.2s/%s", state, hash, hash);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOENT, "the file is no longer in the artefact store");
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno, "could not open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_BUG, "'%s' is not a file", path);
	r = netboot_fetch(q->db, machine, q->arg, bit, kernel, initrd, e);
	if (r < 0)
		return r;
	q->answer.status = 200;
	q->answer.type = "application/octet-stream";
	q->answer.fd_size = (uint64_t)st.st_size;
	q->answer.fd = take_fd(fd);
	return 0;
}

int serve_netboot_kernel(struct request *q, struct err *e)
{
	return serve_file(q, FETCHED_KERNEL, e);
}

int serve_netboot_initrd(struct request *q, struct err *e)
{
	return serve_file(q, FETCHED_INITRD, e);
}

static int offset(const struct request *q, const char *key, int64_t *ret, struct err *e)
{
	const char *value = url_query(&q->url, key);
	int r = parse_i64(value ? value : "", 0, NETBOOT_TOTAL_MAX, ret, e);

	return r < 0 ? err_wrap(e, "query key '%s'", key) : 0;
}

/* Nothing waits here: an agent that expects an answer asks again, at first often, then seldom. */
int serve_netboot_stream(struct request *q, struct err *e)
{
	static const char type[] = "application/octet-stream";
	_cleanup_(strbuf_done) struct strbuf data = STRBUF_INIT;
	_cleanup_(freep) char *machine = NULL;
	int64_t at, from, received = 0;
	size_t len = q->body.len;
	bool stored = false;
	int r;

	r = offset(q, "at", &at, e);
	if (r == 0)
		r = offset(q, "from", &from, e);
	if (r == 0)
		r = find(q, &machine, e);
	if (r == 0)
		r = netboot_add(q->db, machine, q->arg, at, strbuf_str(&q->body), len, &stored, e);
	if (r == 0)
		r = netboot_answer(q->db, machine, q->arg, from, &received, &data, e);
	if (r < 0)
		return r;
	(void)snprintf(q->answer.received, sizeof(q->answer.received), "%lld", (long long)received);
	if (stored) {
		answer_text(q, 200, type, "");
		strbuf_add(&q->answer.body, strbuf_str(&data), data.len);
	} else if (received != at) {
		answer_text(q, 409, type, "");
	} else if (at + (int64_t)len > NETBOOT_TOTAL_MAX) {
		answer_text(q, 413, type, "");
	} else {
		answer_text(q, 503, type, "");
		q->answer.retry_after = 1;
	}
	return 0;
}
