/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/jobs/lab_netboot.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/strbuf.h"
#include "bot/db/db.h"
#include "bot/jobs/settings.h"
#include "bot/store/artefact.h"
#include "bot/store/netboot.h"

#include <string.h>

#define KERNEL_MAX ((size_t)1 << 30)

/* @taken, @sent: bytes of the two directions that the driver has had and given, of this offer. */
struct lab_netboot_store {
	struct db *db;
	const char *state_dir, *machine;
	int64_t fence;
	char secret[NETBOOT_SECRET_LEN + 1];
	int64_t taken, sent;
};

/* Who holds the offer; the rest of it is in its row. */
static struct netboot_offer key(const struct lab_netboot_store *s)
{
	return (struct netboot_offer){ .machine = s->machine,
				       .secret = s->secret,
				       .fence = s->fence };
}

static int store(void *arg, const char *path, char ret[65], struct err *e)
{
	struct lab_netboot_store *s = arg;

	return artefact_put_file(s->db, s->state_dir, "initrd", path, KERNEL_MAX, ret, e);
}

static int offer(void *arg, const struct lab_netboot_offer *o, struct err *e)
{
	struct lab_netboot_store *s = arg;
	struct netboot_offer n = key(s);
	char mac[18];
	int r;

	r = netboot_mac_parse(o->mac, mac, e);
	if (r < 0)
		return r;
	random_hex(NETBOOT_SECRET_LEN / 2, s->secret);
	s->taken = s->sent = 0;
	n.mac = mac;
	n.append = o->append;
	n.kernel = o->kernel;
	n.initrd = o->initrd;
	return netboot_offer(s->db, &n, e);
}

static int take(void *arg, struct strbuf *ret, unsigned *ret_events, struct err *e)
{
	struct lab_netboot_store *s = arg;
	struct netboot_offer n = key(s);
	size_t before = ret->len;
	int r = netboot_take(s->db, &n, s->taken, ret, ret_events, e);

	if (r == 0)
		s->taken += (int64_t)(ret->len - before);
	else
		strbuf_cut(ret, before);
	return r;
}

static int send_bytes(void *arg, const void *data, size_t len, struct err *e)
{
	struct lab_netboot_store *s = arg;
	struct netboot_offer n = key(s);
	int r = netboot_send(s->db, &n, s->sent, data, len, e);

	/* After a lost answer the same bytes are sent again, to the same place. */
	if (r == 0)
		s->sent += (int64_t)len;
	return r;
}

static int withdraw(void *arg, struct err *e)
{
	struct lab_netboot_store *s = arg;

	return netboot_withdraw(s->db, s->machine, s->secret, e);
}

int lab_netboot_store_new(const struct job_ctx *c, struct lab_netboot_store **ret,
			  struct lab_netboot *ret_ops, struct err *e)
{
	struct lab_netboot_store *s = xcalloc(1, sizeof(*s));
	const char *url = config_str(c->config, "machine", c->machine, "url");
	int r = settings_db(c->config, "netboot", 0, &s->db, e);

	if (r < 0) {
		free(s);
		return r;
	}
	s->state_dir = c->state_dir;
	s->machine = c->machine;
	s->fence = c->work->fence;
	*ret_ops = (struct lab_netboot){
		.url = url ? url : config_str(c->config, "kperfbot", NULL, "url"),
		.arg = s,
		.store = store,
		.offer = offer,
		.take = take,
		.send = send_bytes,
		.withdraw = withdraw,
	};
	*ret = s;
	return 0;
}

void lab_netboot_store_free(struct lab_netboot_store *s)
{
	if (!s)
		return;
	db_close(s->db);
	free(s);
}
