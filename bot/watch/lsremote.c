/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/lsremote.h"

#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/vec.h"
#include "bot/watch/remote.h"

#include <string.h>

struct refs {
	VEC(struct lsremote_ref) v;
};

/* "v6.1^{}" comes right after "v6.1" and says what the tag points to. */
static bool take_peeled(struct refs *refs, char *name, const char *hash)
{
	size_t len = strlen(name);
	struct lsremote_ref *last = refs->v.len ? &refs->v.items[refs->v.len - 1] : NULL;

	if (len < 3 || strcmp(name + len - 3, "^{}") != 0)
		return false;
	name[len - 3] = '\0';
	if (last && last->is_tag && strcmp(last->name, name) == 0)
		memcpy(last->peeled, hash, sizeof(last->peeled));
	return true;
}

static int parse_line(char *line, struct refs *refs, struct err *e)
{
	struct lsremote_ref ref = { 0 };
	char *tab = strchr(line, '\t');
	char *name;

	if (!tab)
		return err_set(e, ERR_PARSE, "git listed '%.100s', not a hash and a ref", line);
	*tab = '\0';
	name = tab + 1;
	if (strlen(line) == 64 && strspn(line, "0123456789abcdef") == 64)
		return err_set(e, ERR_UNSUPPORTED,
			       "the remote uses SHA-256 object names; only SHA-1 is supported");
	if (!parse_hash(line))
		return err_set(e, ERR_PARSE, "git listed '%.100s', not a hash", line);
	if (strncmp(name, "refs/heads/", 11) == 0)
		name += 11;
	else if (strncmp(name, "refs/tags/", 10) == 0)
		name += 10, ref.is_tag = true;
	else
		return 0;
	if (ref.is_tag && take_peeled(refs, name, line))
		return 0;
	if (!remote_branch_ok(name))
		return 0;
	memcpy(ref.hash, line, sizeof(ref.hash));
	memcpy(ref.peeled, line, sizeof(ref.peeled));
	ref.name = xstrdup(name);
	vec_push(&refs->v, ref);
	return 0;
}

int lsremote_parse(const char *text, size_t len, struct lsremote *ret, struct err *e)
{
	struct refs refs = { 0 };
	const char *end = text + len;
	int r = 0;

	while (r == 0 && text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		_cleanup_(freep) char *line = NULL;

		if (!nl) {
			r = err_set(e, ERR_PARSE, "git's list of refs is cut off");
			break;
		}
		line = xstrndup(text, (size_t)(nl - text));
		r = parse_line(line, &refs, e);
		text = nl + 1;
	}
	*ret = (struct lsremote){ refs.v.items, refs.v.len };
	if (r < 0)
		lsremote_done(ret);
	return r;
}

void lsremote_done(struct lsremote *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->refs[i].name);
	free(l->refs);
	*l = (struct lsremote){ 0 };
}
