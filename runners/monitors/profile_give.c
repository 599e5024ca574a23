/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the sums of a profile to metrics: what is large enough, largest first. */
#include "bot/base/cleanup.h"
#include "bot/base/strbuf.h"
#include "runners/monitors/profile.h"

#include <string.h>

#define NAME_MAX_BYTES 400u

/* struct share - candidate for a metric. */
struct share {
	double weight;
	uint32_t id;
};

/* struct giving - where metrics go, and the names that were given before. */
struct giving {
	struct profile *p;
	const struct profile_event *ev;
	struct names given;
	unsigned left_out;
};

static int share_cmp(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* @fn makes the name of number id behind @what. */
typedef void name_fn(const struct profile *p, const struct profile_event *ev, uint32_t id,
		     struct strbuf *b);

static void give_one(struct giving *g, const char *what, const struct share *s, name_fn *fn,
		     const char *about)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	double share = s->weight / g->ev->total * 100;
	_cleanup_(freep) char *event = xstrdup(g->ev->name);
	uint32_t before = g->given.n;

	for (char *c = event; *c; c++)
		if (*c == ':' || *c == '/')
			*c = '-';
	strbuf_addf(&b, "perf-profile.%s.%s.", what, event);
	fn(g->p, g->ev, s->id, &b);
	/* Sums of rounded percentages may come out above by a bit; more means something is wrong. */
	if (b.len > NAME_MAX_BYTES || share > 101) {
		g->left_out++;
		return;
	}
	metric_name_clean(b.s, b.len);
	(void)names_intern(&g->given, b.s, b.len);
	if (g->given.n == before) {
		g->left_out++;
		return;
	}
	metric_give(g->p->out, b.s, "%", KIND_SHARE, about, share < 100 ? share : 100, NULL, 0);
}

static void give_largest(struct giving *g, const char *what, struct share *all, size_t n,
			 size_t max, name_fn *fn, const char *about)
{
	if (n == 0)
		return;
	qsort(all, n, sizeof(*all), share_cmp);
	for (size_t i = 0; i < n && i < max; i++)
		give_one(g, what, &all[i], fn, about);
}

static void add_name(const struct names *t, uint32_t id, struct strbuf *b)
{
	strbuf_add(b, t->items[id].s, t->items[id].len);
}

static void symbol_name(const struct profile *p, const struct profile_event *ev, uint32_t id,
			struct strbuf *b)
{
	(void)ev;
	add_name(&p->symbols, id, b);
}

static void comm_name(const struct profile *p, const struct profile_event *ev, uint32_t id,
		      struct strbuf *b)
{
	(void)ev;
	add_name(&p->comms.names, id, b);
}

static void dso_name(const struct profile *p, const struct profile_event *ev, uint32_t id,
		     struct strbuf *b)
{
	const struct name *n = &p->dsos.names.items[id];
	const char *slash = memrchr(n->s, '/', n->len);

	/* Folders differ from machine to machine. */
	(void)ev;
	if (slash && slash + 1 < n->s + n->len && n->s[0] == '/')
		strbuf_add(b, slash + 1, (size_t)(n->s + n->len - slash - 1));
	else
		strbuf_add(b, n->s, n->len);
}

static void path_name(const struct profile *p, const struct profile_event *ev, uint32_t id,
		      struct strbuf *b)
{
	const struct path *path = &ev->paths[id];

	for (uint32_t i = 0; i < path->n; i++) {
		if (i > 0)
			strbuf_addch(b, '.');
		add_name(&p->symbols, path->ids[i], b);
	}
}

/* Those of @n weights that are @least percent of the event's weight or more. */
static size_t pick(const struct profile_event *ev, const double *weights, uint32_t n, double least,
		   struct share *ret)
{
	size_t picked = 0;

	for (uint32_t i = 0; i < n; i++)
		if (weights[i] > 0 && weights[i] * 100 >= least * ev->total)
			ret[picked++] = (struct share){ weights[i], i };
	return picked;
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void give_paths(struct giving *g, struct share *all)
{
	const struct profile_event *ev = g->ev;
	size_t n = 0;

	for (uint32_t i = 0; i < ev->paths_n; i++)
		if (ev->paths[i].weight * 200 >= ev->total)
			all[n++] = (struct share){ ev->paths[i].weight, i };
	give_largest(g, "calltrace", all, n, 200, path_name,
		     "share of samples with this function below these callers");
}

static void give_lost(struct giving *g)
{
	struct line end = { .nr = 1 };

	if (g->left_out)
		suite_problem_add(g->p->out, &end,
				  "%u names are too long, there already, or above 100%%; left out",
				  g->left_out);
	if (g->ev->symbols_lost > 0)
		suite_problem_add(
			g->p->out, &end, "more than %u functions; the rest has %.3g%% of '%s'",
			PROFILE_SYMBOLS_MAX, g->ev->symbols_lost / g->ev->total * 100, g->ev->name);
	if (g->ev->paths_lost > 0)
		suite_problem_add(g->p->out, &end,
				  "more than %u call paths; those beyond are left out",
				  PROFILE_PATHS_MAX);
}

static void event_give(struct profile *p, uint32_t event, struct share *all)
{
	const struct profile_event *ev = &p->events[event];
	struct giving g = { .p = p, .ev = ev };
	uint32_t symbols = least_of(p->symbols.n, ev->cap);
	char name[MONITOR_NAME_MAX];
	size_t n;

	names_init(&g.given, MONITOR_METRICS_MAX);
	if (ev->samples > 0) {
		(void)metric_name(name, "perf-profile.samples.%s", ev->name);
		metric_give(p->out, name, "samples", KIND_COUNT, "samples taken", ev->samples, NULL,
			    0);
	}
	n = pick(ev, ev->self, symbols, 0.05, all);
	give_largest(&g, "self", all, n, 500, symbol_name, "share of samples in this function");
	n = pick(ev, ev->children, symbols, 0.05, all);
	give_largest(&g, "children", all, n, 500, symbol_name,
		     "share of samples in this function or what it called");
	give_paths(&g, all);
	if (p->comms.cap) {
		n = pick(ev, p->comms.weight[event], p->comms.names.n, 0.05, all);
		give_largest(&g, "comm", all, n, 50, comm_name, "share of samples in this program");
	}
	if (p->dsos.cap) {
		n = pick(ev, p->dsos.weight[event], p->dsos.names.n, 0.05, all);
		give_largest(&g, "dso", all, n, 50, dso_name,
			     "share of samples in this library, module or program");
	}
	give_lost(&g);
	names_done(&g.given);
}

void profile_give(struct profile *p)
{
	struct line end = { .nr = 1 };
	uint32_t most = PROFILE_GROUPS_MAX;
	struct share *all;
	bool any = false;

	if (p->symbols.n > most)
		most = p->symbols.n;
	for (uint32_t i = 0; i < p->events_n; i++)
		if (p->events[i].paths_n > most)
			most = p->events[i].paths_n;
	all = xcalloc(most, sizeof(*all));
	for (uint32_t i = 0; i < p->events_n; i++)
		if (p->events[i].total > 0) {
			event_give(p, i, all);
			any = true;
		}
	free(all);
	if (!any)
		suite_problem_add(p->out, &end, "no sample in the profile");
	if (p->deep)
		suite_problem_add(p->out, &end, "call chains of more than %u functions were cut",
				  PROFILE_DEPTH_MAX);
}
