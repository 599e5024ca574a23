/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/monitors/profile.h"

#include "bot/base/strbuf.h"

#include <string.h>

void profile_init(struct profile *p, struct suite_output *out)
{
	memset(p, 0, sizeof(*p));
	p->out = out;
	names_init(&p->symbols, PROFILE_SYMBOLS_MAX);
	names_init(&p->comms.names, PROFILE_GROUPS_MAX);
	names_init(&p->dsos.names, PROFILE_GROUPS_MAX);
}

static void group_done(struct profile_group *g)
{
	names_done(&g->names);
	for (size_t i = 0; i < PROFILE_EVENTS_MAX; i++)
		free(g->weight[i]);
}

void profile_done(struct profile *p)
{
	for (uint32_t i = 0; i < p->events_n; i++) {
		struct profile_event *ev = &p->events[i];

		free(ev->name);
		free(ev->self);
		free(ev->children);
		free(ev->stamps);
		free(ev->paths);
		free(ev->slots);
	}
	names_done(&p->symbols);
	group_done(&p->comms);
	group_done(&p->dsos);
}

uint32_t profile_event(struct profile *p, const struct word *name)
{
	char text[64];
	size_t len = name->len < sizeof(text) ? name->len : sizeof(text) - 1;
	uint32_t i = 0;

	memcpy(text, name->s, len);
	text[len] = '\0';
	metric_name_clean(text, len);
	while (i < p->events_n && strcmp(p->events[i].name, text) != 0)
		i++;
	if (i == p->events_n && i < PROFILE_EVENTS_MAX)
		p->events[p->events_n++].name = xstrdup(text);
	return i;
}

uint32_t profile_symbol(struct profile *p, const char *s, size_t len)
{
	return names_intern(&p->symbols, s, len);
}

/* More room for numbers of each symbol, new ones 0. */
static void *grown(void *old, uint32_t from, uint32_t to, size_t size)
{
	char *p = xreallocarray(old, to, size);

	memset(p + from * size, 0, (to - from) * size);
	return p;
}

static void event_reserve(struct profile_event *ev, uint32_t id)
{
	uint32_t cap = ev->cap ? ev->cap : 1024;

	while (cap <= id)
		cap *= 2;
	if (cap == ev->cap)
		return;
	ev->self = grown(ev->self, ev->cap, cap, sizeof(*ev->self));
	ev->children = grown(ev->children, ev->cap, cap, sizeof(*ev->children));
	ev->stamps = grown(ev->stamps, ev->cap, cap, sizeof(*ev->stamps));
	ev->cap = cap;
}

void profile_add_symbol(struct profile *p, uint32_t event, uint32_t id, double self,
			double children)
{
	struct profile_event *ev = &p->events[event];

	if (id == NAMES_FULL) {
		ev->symbols_lost += self;
		return;
	}
	event_reserve(ev, id);
	ev->self[id] += self;
	ev->children[id] += children;
}

void profile_add_group(struct profile_group *g, uint32_t event, const struct word *name,
		       double weight)
{
	uint32_t id = name->len ? names_intern(&g->names, name->s, name->len) : NAMES_FULL;

	if (id == NAMES_FULL)
		return;
	if (id >= g->cap) {
		uint32_t cap = g->cap ? g->cap * 2 : 64;

		for (size_t i = 0; i < PROFILE_EVENTS_MAX; i++)
			g->weight[i] = grown(g->weight[i], g->cap, cap, sizeof(**g->weight));
		g->cap = cap;
	}
	g->weight[event][id] += weight;
}

static uint32_t path_hash(const uint32_t *ids, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ ids[i]) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 29;
	}
	return (uint32_t)(h ^ (h >> 32));
}

static void paths_grow(struct profile_event *ev)
{
	uint32_t n = ev->slots_n ? ev->slots_n * 2 : 1024;

	free(ev->slots);
	ev->slots = xcalloc(n, sizeof(*ev->slots));
	ev->slots_n = n;
	for (uint32_t i = 0; i < ev->paths_n; i++) {
		uint32_t at = path_hash(ev->paths[i].ids, ev->paths[i].n) & (n - 1);

		while (ev->slots[at])
			at = (at + 1) & (n - 1);
		ev->slots[at] = i + 1;
	}
}

void profile_add_path(struct profile_event *ev, const uint32_t *ids, uint32_t n, uint64_t stamp,
		      double weight)
{
	struct path *path;
	uint32_t at;

	if ((ev->paths_n + 1) * 2 > ev->slots_n)
		paths_grow(ev);
	at = path_hash(ids, n) & (ev->slots_n - 1);
	for (; ev->slots[at]; at = (at + 1) & (ev->slots_n - 1)) {
		path = &ev->paths[ev->slots[at] - 1];
		if (path->n != n || memcmp(path->ids, ids, n * sizeof(*ids)) != 0)
			continue;
		/* A path that a chain holds twice counts once for the sample. */
		if (path->stamp != stamp)
			path->weight += weight;
		path->stamp = stamp;
		return;
	}
	if (ev->paths_n == PROFILE_PATHS_MAX) {
		ev->paths_lost += weight;
		return;
	}
	if (ev->paths_n == ev->paths_cap) {
		ev->paths_cap = ev->paths_cap ? ev->paths_cap * 2 : 256;
		ev->paths = xreallocarray(ev->paths, ev->paths_cap, sizeof(*ev->paths));
	}
	path = &ev->paths[ev->paths_n];
	*path = (struct path){ .n = n, .stamp = stamp, .weight = weight };
	memcpy(path->ids, ids, n * sizeof(*ids));
	ev->slots[at] = ++ev->paths_n;
}

void profile_sample(struct profile *p, uint32_t event, double weight, const struct word *comm,
		    const struct word *dso)
{
	struct profile_event *ev = &p->events[event];
	uint32_t depth = p->depth < PROFILE_DEPTH_MAX ? p->depth : PROFILE_DEPTH_MAX;

	p->deep |= p->depth > PROFILE_DEPTH_MAX;
	p->depth = 0;
	if (depth == 0)
		return;
	p->stamp++;
	ev->total += weight;
	ev->samples++;
	profile_add_symbol(p, event, p->chain[0], weight, 0);
	profile_add_group(&p->comms, event, comm, weight);
	profile_add_group(&p->dsos, event, dso, weight);
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t id = p->chain[i], n = 0;

		if (id == NAMES_FULL)
			continue;
		event_reserve(ev, id);
		if (ev->stamps[id] != p->stamp)
			ev->children[id] += weight;
		ev->stamps[id] = p->stamp;
		while (n < PROFILE_PATH_LEN && i + n < depth && p->chain[i + n] != NAMES_FULL)
			n++;
		if (n > 1)
			profile_add_path(ev, p->chain + i, n, p->stamp, weight);
	}
}
