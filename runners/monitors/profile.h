/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where time went: samples with call chains, summed while they are read. Memory is bounded: names
 * and call paths are taken in the order in which they come until a table is full, and the weight of
 * those that found no place is known.
 */
#pragma once

#include "runners/monitors/internal.h"

#define PROFILE_EVENTS_MAX  4u
#define PROFILE_SYMBOLS_MAX 65536u
#define PROFILE_GROUPS_MAX  4096u
#define PROFILE_PATHS_MAX   131072u
#define PROFILE_DEPTH_MAX   1024u
/* A function and four callers, innermost first. */
#define PROFILE_PATH_LEN 5u

/** struct path - functions above each other. @stamp: the last sample that had it. */
struct path {
	uint32_t ids[PROFILE_PATH_LEN], n;
	uint64_t stamp;
	double weight;
};

/**
 * struct profile_event - sums for one event.
 * @name: "cycles:P"; owned.
 * @self, @children, @stamps: one for each symbol, @cap of them.
 * @paths_lost, @symbols_lost: weight of what found no place.
 */
struct profile_event {
	char *name;
	double total, samples;
	double *self, *children;
	uint64_t *stamps;
	uint32_t cap;
	struct path *paths;
	uint32_t paths_n, paths_cap;
	uint32_t *slots;
	uint32_t slots_n;
	double paths_lost, symbols_lost;
};

/** struct profile_group - self weight by command or shared object, all events' sums apart. */
struct profile_group {
	struct names names;
	double *weight[PROFILE_EVENTS_MAX];
	uint32_t cap;
};

/**
 * struct profile - the sums, and the sample that is being read.
 * @chain: symbols, innermost first; @depth: how many there were, also beyond PROFILE_DEPTH_MAX.
 */
struct profile {
	struct suite_output *out;
	struct names symbols;
	struct profile_event events[PROFILE_EVENTS_MAX];
	uint32_t events_n;
	struct profile_group comms, dsos;
	uint32_t chain[PROFILE_DEPTH_MAX];
	uint32_t depth;
	uint64_t stamp;
	bool deep;
};

void profile_init(struct profile *p, struct suite_output *out);
void profile_done(struct profile *p);

/** profile_event() - number of the event, added if it is new; PROFILE_EVENTS_MAX if there is no room. */
uint32_t profile_event(struct profile *p, const struct word *name);

/** profile_symbol() - number of a function's name, or NAMES_FULL. */
uint32_t profile_symbol(struct profile *p, const char *s, size_t len);

/** profile_frame() - one more function of the sample's chain, innermost first. */
static inline void profile_frame(struct profile *p, uint32_t id)
{
	if (p->depth < PROFILE_DEPTH_MAX)
		p->chain[p->depth] = id;
	p->depth++;
}

/** profile_sample() - the chain is complete; @comm and @dso (of the innermost) may be empty. */
void profile_sample(struct profile *p, uint32_t event, double weight, const struct word *comm,
		    const struct word *dso);

/** profile_add() - weights of a symbol, group or path that somebody else has summed. */
void profile_add_symbol(struct profile *p, uint32_t event, uint32_t id, double self,
			double children);
void profile_add_group(struct profile_group *g, uint32_t event, const struct word *name,
		       double weight);
void profile_add_path(struct profile_event *ev, const uint32_t *ids, uint32_t n, uint64_t stamp,
		      double weight);

/** profile_give() - append the metrics: shares of each event's weight. */
void profile_give(struct profile *p);

/** perf_script_line() - take a line of perf script; see perf_script.c. */
struct perf_script {
	uint32_t event;
	double weight;
	char comm[64], dso[256];
	struct word comm_word, dso_word;
	bool in_sample, skip;
};
void perf_script_line(struct profile *p, struct perf_script *s, const struct line *l);
/** perf_script_end() - the text is at its end, at line @l. */
void perf_script_end(struct profile *p, struct perf_script *s, const struct line *l);

/** struct perf_report - the columns of perf report --stdio; see perf_report.c. */
struct perf_report {
	uint32_t event;
	bool has_event, has_columns;
	struct {
		size_t start, end;
		enum {
			REPORT_OTHER,
			REPORT_CHILDREN,
			REPORT_SELF,
			REPORT_COMMAND,
			REPORT_DSO,
			REPORT_SYMBOL
		} what;
	} columns[12];
	struct word titles;
	size_t n;
};
void perf_report_line(struct profile *p, struct perf_report *s, const struct line *l);

/** struct fold_reader - reading what profile_fold_text() wrote; see profile_fold.c. */
struct fold_reader {
	uint32_t event, symbols_n;
	uint32_t *symbols;
	bool has_event, ended, bad;
};
void fold_reader_line(struct profile *p, struct fold_reader *r, const struct line *l);
/** fold_reader_end() - free what @r holds. Return: was the text whole? */
bool fold_reader_end(struct profile *p, struct fold_reader *r, const struct line *l);
