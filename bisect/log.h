/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of a bisection: our own, from which it can be followed again, and git's. */
#pragma once

#include "bisect/bisect.h"

struct err;

/** BISECT_LOG_MOST - longest log that is read, bytes. */
#define BISECT_LOG_MOST (64 << 20)

/** struct bisect_log_beside - builds, boots and runs of commits that are not in the range. */
struct bisect_log_beside {
	int builds;
	int boots;
	int runs;
};

/**
 * struct bisect_log - a log that was read.
 * @good: hash of the good end, "" if the log does not tell.
 * @graph: prepared; owned.
 * @events, @n_events: what was told to the bisection, in that order; owned.
 * @beside: checks beside the range.
 */
struct bisect_log {
	char good[41];
	struct bisect_graph graph;
	struct bisect_params params;
	struct bisect_event *events;
	size_t n_events;
	struct bisect_log_beside beside;
};

/**
 * struct bisect_log_cost - what of it this bisection has paid for; all borrowed.
 * @made: per commit, the good end last: its build was made for this bisection. NULL: none was.
 * @given, @n_given: by number of the boot: it was there before. Those above count as made.
 * @beside: what was made in the end to check the answer on commits beside the range.
 */
struct bisect_log_cost {
	const unsigned char *made;
	const unsigned char *given;
	size_t n_given;
	struct bisect_log_beside beside;
};

/**
 * bisect_log_write() - everything that @s was told: free() it.
 * @good: hash of the good end, or NULL. @cost: may be NULL.
 *
 * Lines of JSON: the first has "format":"kperfbot-bisect-log/1", the parameters and the commits
 * with their parents; each further one is an event: {"run":{"commit":…,"boot":…,"y":…}},
 * {"skip":{"commit":…,"reason":…}}, {"built":{"commit":…}}, {"prior":{"commit":…,"weight":…}}. The
 * good end is called "good". "given" is true of runs, "made" of builds as @cost tells, and the first
 * line has @cost->beside.
 */
char *bisect_log_write(const struct bisect_state *s, const char *good,
		       const struct bisect_log_cost *cost);

/**
 * bisect_log_read() - what bisect_log_write() wrote; keys that are not known are ignored.
 * @ret: filled on success only; bisect_log_done() it.
 *
 * Return: 0; ERR_PARSE, ERR_FORMAT (another version), ERR_NOENT (commit not in the log's range),
 * ERR_TOO_BIG, ERR_INVAL. The line is named.
 */
int bisect_log_read(const char *text, size_t len, struct bisect_log *ret, struct err *e);
void bisect_log_done(struct bisect_log *log);

/** bisect_log_start() - a state that knows nothing yet; bisect_done() it, before @log. */
int bisect_log_start(const struct bisect_log *log, struct bisect_state *ret, struct err *e);

/** bisect_log_apply() - tell @s one event. */
int bisect_log_apply(struct bisect_state *s, const struct bisect_event *event, struct err *e);

/**
 * struct bisect_git_about - what git's log tells beside the words; all borrowed.
 * @goods, @n_goods: hashes of further good ends, of branches that went apart.
 * @paths, @n_paths: the search was limited to these. @first_parent: and to first parents.
 * @reversed: what is better is looked for: its words are new and old, not bad and good.
 * @subject: of the commit's message by its hash, "" or NULL if there is none; valid until the next
 *	     call. Control characters are dropped from it. NULL: no subjects.
 */
struct bisect_git_about {
	const char *const *goods;
	size_t n_goods;
	const char *const *paths;
	size_t n_paths;
	bool first_parent;
	bool reversed;
	const char *(*subject)(const char *hash, void *arg);
	void *arg;
};

/**
 * bisect_none_text() - answer BISECT_NONE in words: no step at all, or none as large as asked for.
 */
const char *bisect_none_text(const struct bisect_step *step);

/**
 * bisect_log_git() - the log as `git bisect log` would print it, fit for `git bisect replay`.
 * @good: hash of the good end.
 * @step: answer of bisect_next(), or NULL: adds the line of the first bad commit, or of those that
 *        are left when the rest cannot be tested.
 * @about: may be NULL.
 *
 * In form as git 2.37 and later writes it. Commits in the order of their first run. Good or bad is
 * said of a commit with nine in ten; of the others there is a comment.
 * Return: text; free() it.
 */
char *bisect_log_git(struct bisect_state *s, const char *good, const struct bisect_step *step,
		     const struct bisect_git_about *about);

enum bisect_word {
	BISECT_WORD_GOOD,
	BISECT_WORD_BAD,
	BISECT_WORD_SKIP,
};

/**
 * struct bisect_git_log - a `git bisect log` that was read.
 * @names, @words, @n: what was said of which revision, in that order, the ends included; owned.
 * @paths, @n_paths: the bisection was limited to these; owned.
 * @first_parent: and to first parents.
 * @culprit: hash of the "first bad commit" comment, or "".
 */
struct bisect_git_log {
	char **names;
	enum bisect_word *words;
	size_t n;
	char **paths;
	size_t n_paths;
	bool first_parent;
	char culprit[41];
};

/** bisect_git_log_is() - does @text look like a `git bisect log`? */
bool bisect_git_log_is(const char *text, size_t len);

/**
 * bisect_git_log_read() - read it; other terms than good and bad are understood.
 * Return: 0; ERR_PARSE with the line; ERR_TOO_BIG.
 */
int bisect_git_log_read(const char *text, size_t len, struct bisect_git_log *ret, struct err *e);
void bisect_git_log_done(struct bisect_git_log *log);

/**
 * struct bisect_word_said - good, bad or skip of a commit of a range.
 */
struct bisect_word_said {
	int commit;
	enum bisect_word word;
};

/**
 * bisect_words_posterior() - probability of each commit to be the first bad one, by words alone.
 * @wrong: probability that one word is wrong, 0 … 0.5; each counts by itself.
 * @p: graph->n values, sum 1; all 0 if the words contradict each other and none can be wrong.
 * @ret_left: commits that agree with every word.
 */
void bisect_words_posterior(const struct bisect_graph *g, const struct bisect_word_said *words,
			    size_t n, double wrong, double *p, size_t *ret_left);
