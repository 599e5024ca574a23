/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/event.h"

#include "bot/base/err.h"
#include "bot/base/vec.h"

#include <stdlib.h>
#include <string.h>

void mirror_heads_free(struct mirror_head *heads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(heads[i].branch);
	free(heads);
}

void mirror_events_free(struct mirror_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(events[i].branch);
	free(events);
}

static int by_branch(const void *a, const void *b)
{
	const struct mirror_head *const *x = a;
	const struct mirror_head *const *y = b;

	return strcmp((*x)->branch, (*y)->branch);
}

static const struct mirror_head **sorted(const struct mirror_head *heads, size_t n)
{
	const struct mirror_head **v = xcalloc(n + 1, sizeof(const struct mirror_head *));

	for (size_t i = 0; i < n; i++)
		v[i] = &heads[i];
	if (n)
		qsort((void *)v, n, sizeof(const struct mirror_head *), by_branch);
	return v;
}

static struct mirror_event make(enum mirror_event_kind kind, const char *branch,
				const struct mirror_head *old, const struct mirror_head *new)
{
	struct mirror_event ev = { .kind = kind };

	ev.branch = xstrdup(branch);
	if (old)
		memcpy(ev.old_hash, old->hash, sizeof(ev.old_hash));
	if (new)
		memcpy(ev.new_hash, new->hash, sizeof(ev.new_hash));
	return ev;
}

int mirror_events(const struct mirror_head *old_heads, size_t n_old,
		  const struct mirror_head *new_heads, size_t n_new, bool first_time,
		  mirror_is_ancestor_fn *is_ancestor, void *arg, struct mirror_event **ret,
		  size_t *ret_n, struct err *e)
{
	const struct mirror_head **a = sorted(old_heads, n_old);
	const struct mirror_head **b = sorted(new_heads, n_new);
	VEC(struct mirror_event) v = { 0 };
	size_t i = 0;
	size_t j = 0;
	int r = 0;

	while (i < n_old || j < n_new) {
		int c = i == n_old ? 1 : j == n_new ? -1 : strcmp(a[i]->branch, b[j]->branch);

		if (c < 0) {
			vec_push(&v, make(MIRROR_DELETED, a[i]->branch, a[i], NULL));
			i++;
		} else if (c > 0) {
			vec_push(&v, make(first_time ? MIRROR_FIRST : MIRROR_NEW, b[j]->branch,
					  NULL, b[j]));
			j++;
		} else {
			if (strcmp(a[i]->hash, b[j]->hash) != 0) {
				r = is_ancestor(arg, a[i]->hash, b[j]->hash, e);
				if (r < 0)
					break;
				vec_push(&v, make(r ? MIRROR_MOVED : MIRROR_FORCED, b[j]->branch,
						  a[i], b[j]));
			}
			i++;
			j++;
		}
	}
	free((void *)a);
	free((void *)b);
	if (r < 0) {
		mirror_events_free(v.items, v.len);
		return r;
	}
	*ret = v.items;
	*ret_n = v.len;
	return 0;
}

const char *mirror_event_kind_name(enum mirror_event_kind kind)
{
	static const char *const names[] = { [MIRROR_FIRST] = "first",
					     [MIRROR_NEW] = "new",
					     [MIRROR_MOVED] = "moved",
					     [MIRROR_FORCED] = "forced",
					     [MIRROR_DELETED] = "deleted" };

	return names[kind];
}
