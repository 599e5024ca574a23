/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log in the words of git, and what such words alone tell. */
#include "bisect/log.h"

#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SURE	   0.9
#define WORDS_MOST 100000
#define NAME_MOST  1024
#define TERM_MOST  64

/* Writing */

struct writer {
	struct strbuf text;
	const struct bisect_git_about *about;
};

/* Steers a terminal: C0, DEL, and C1 as UTF-8 writes it. */
static bool is_control(const unsigned char *c)
{
	return *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

static void write_comment(struct writer *w, const char *what, const char *hash)
{
	const char *subject = w->about->subject ? w->about->subject(hash, w->about->arg) : NULL;
	const unsigned char *c = (const unsigned char *)(subject ? subject : "");

	strbuf_addf(&w->text, "# %s: [%s] ", what, hash);
	for (; *c != '\0' && *c != '\n'; c++) {
		if (*c == '\t' || !is_control(c))
			strbuf_addch(&w->text, (char)*c);
		else if (*c == 0xc2)
			c++;
	}
	strbuf_addch(&w->text, '\n');
}

static void write_word(struct writer *w, const char *word, const char *hash)
{
	write_comment(w, word, hash);
	strbuf_addf(&w->text, "git bisect %s %s\n", word, hash);
}

/* git's own words where it is not something bad that is looked for. */
static const char *term(const struct writer *w, bool bad)
{
	if (w->about->reversed)
		return bad ? "new" : "old";
	return bad ? "bad" : "good";
}

static void write_commit(struct writer *w, struct bisect_state *s, int commit)
{
	const char *hash = s->graph->commits[commit].hash;
	char p[PROBABILITY_TEXT];
	double bad;

	if (s->skip[commit]) {
		write_word(w, "skip", hash);
		return;
	}
	bad = bisect_p_bad(s, commit);
	if (bad >= SURE || bad <= 1 - SURE) {
		write_word(w, term(w, bad >= SURE), hash);
		return;
	}
	write_comment(w, "unsure", hash);
	strbuf_addf(&w->text, "# %s with probability %s\n", term(w, true),
		    probability_text(p, bad));
}

const char *bisect_none_text(const struct bisect_step *step)
{
	return step->p_none >= 0.5 ? "the ends do not differ"
				   : "the ends do not differ, or by less than was asked for";
}

static void write_answer(struct writer *w, const struct bisect_state *s,
			 const struct bisect_step *step)
{
	const struct bisect_commit *commits = s->graph->commits;

	if (step->action == BISECT_DONE)
		write_comment(w, w->about->reversed ? "first new commit" : "first bad commit",
			      commits[step->commit].hash);
	if (step->action == BISECT_NONE && !step->reverted)
		strbuf_addf(&w->text, "# %s\n", bisect_none_text(step));
	if (step->action == BISECT_NONE && step->reverted)
		write_comment(w, "bad since", commits[step->commit].hash);
	if (step->second >= 0)
		write_comment(w, step->reverted ? "good again since" : "second step",
			      commits[step->second].hash);
	if (step->action == BISECT_SET && !step->exhausted)
		strbuf_addstr(&w->text, "# only skipped commits left to test\n");
	for (size_t i = 0; step->action == BISECT_SET && i < step->n_set; i++)
		write_comment(w,
			      w->about->reversed ? "possible first new commit"
						 : "possible first bad commit",
			      commits[step->set[i]].hash);
}

/* As git's sq_quote_argv() does: each word in quotes, with a space before it. */
static void write_quoted(struct writer *w, const char *word)
{
	strbuf_addstr(&w->text, " '");
	for (; *word != '\0'; word++) {
		if (*word == '\'' || *word == '!')
			strbuf_addf(&w->text, "'\\%c'", *word);
		else
			strbuf_addch(&w->text, *word);
	}
	strbuf_addch(&w->text, '\'');
}

static void write_start(struct writer *w, const char *good, const char *bad)
{
	const struct bisect_git_about *a = w->about;

	strbuf_addstr(&w->text, "git bisect start");
	if (a->first_parent)
		write_quoted(w, "--first-parent");
	if (a->n_paths > 0)
		write_quoted(w, "--");
	for (size_t i = 0; i < a->n_paths; i++)
		write_quoted(w, a->paths[i]);
	strbuf_addstr(&w->text, "\n# status: waiting for both good and bad commits\n");
	write_word(w, term(w, true), bad);
	strbuf_addstr(&w->text, "# status: waiting for good commit(s), bad commit known\n");
	write_word(w, term(w, false), good);
	for (size_t i = 0; i < a->n_goods; i++)
		write_word(w, term(w, false), a->goods[i]);
}

char *bisect_log_git(struct bisect_state *s, const char *good, const struct bisect_step *step,
		     const struct bisect_git_about *about)
{
	static const struct bisect_git_about nothing;
	struct writer w = { .text = STRBUF_INIT, .about = about ? about : &nothing };
	const int bad_end = (int)s->graph->n - 1;
	_cleanup_(freep) bool *told = xcalloc(s->graph->n, sizeof(*told));

	write_start(&w, good, s->graph->commits[bad_end].hash);
	for (size_t i = 0; i < s->n_events; i++) {
		const struct bisect_event *event = &s->events[i];
		bool tested = event->kind == BISECT_EVENT_RUN || event->kind == BISECT_EVENT_SKIP;

		if (!tested || event->commit < 0 || event->commit == bad_end || told[event->commit])
			continue;
		told[event->commit] = true;
		write_commit(&w, s, event->commit);
	}
	if (step)
		write_answer(&w, s, step);
	return strbuf_take(&w.text);
}

/* Reading */

/*
 * What a line does not say itself: the terms of this log beside git's own, and the hashes of the
 * comments before it. A name such as HEAD or master means another commit later than it did then.
 */
struct known {
	char good[TERM_MOST];
	char bad[TERM_MOST];
	char (*hashes)[41];
	size_t n_hashes;
};

/*
 * The next word of a shell command as git writes them: plain, or within single quotes, where '\''
 * stands for a quote. Return: the word, free() it; NULL at the end or when a quote stays open.
 */
static char *next_word(const char **at, const char *end)
{
	struct strbuf word = STRBUF_INIT;
	const char *p = *at;
	bool quoted = false;

	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return NULL;
	for (; p < end && (quoted || *p != ' '); p++) {
		if (*p == '\'')
			quoted = !quoted;
		else if (*p == '\\' && !quoted && p + 1 < end)
			strbuf_addch(&word, *++p);
		else
			strbuf_addch(&word, *p);
	}
	*at = p;
	if (quoted || word.len > NAME_MOST || strlen(strbuf_str(&word)) != word.len) {
		strbuf_done(&word);
		return NULL;
	}
	return strbuf_take(&word);
}

static bool has_rest(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at < end;
}

static int add_word(struct bisect_git_log *log, const char *name, enum bisect_word word,
		    struct err *e)
{
	if (log->n >= WORDS_MOST)
		return err_set(e, ERR_TOO_BIG, "more than %d commits", WORDS_MOST);
	if (log->n % 64 == 0) {
		log->names = xreallocarray(log->names, log->n + 64, sizeof(*log->names));
		log->words = xreallocarray(log->words, log->n + 64, sizeof(*log->words));
	}
	log->names[log->n] = xstrdup(name);
	log->words[log->n++] = word;
	return 0;
}

static void add_path(struct bisect_git_log *log, const char *path)
{
	log->paths = xreallocarray(log->paths, log->n_paths + 1, sizeof(*log->paths));
	log->paths[log->n_paths++] = xstrdup(path);
}

static bool take_term(const char *word, const char *option, const char **at, const char *end,
		      char *to)
{
	size_t n = strlen(option);
	_cleanup_(freep) char *next = NULL;
	const char *value;

	if (strncmp(word, option, n) != 0 || (word[n] != '=' && word[n] != '\0'))
		return false;
	if (word[n] == '\0')
		next = next_word(at, end);
	value = word[n] == '=' ? word + n + 1 : next;
	if (value && strlen(value) < TERM_MOST)
		memcpy(to, value, strlen(value) + 1);
	return true;
}

/* The @nth name of `git bisect start`; git has written its hash in the @nth comment before. */
static int add_end(struct bisect_git_log *log, const struct known *known, const char *name,
		   size_t nth, struct err *e)
{
	return add_word(log, nth < known->n_hashes ? known->hashes[nth] : name,
			nth == 0 ? BISECT_WORD_BAD : BISECT_WORD_GOOD, e);
}

/* git bisect start [options] [BAD [GOOD…]] [--] [PATH…] */
static int read_start(struct bisect_git_log *log, struct known *known, const char *at,
		      const char *end, struct err *e)
{
	bool paths = false;
	size_t names = 0;
	int r = 0;

	while (r == 0 && has_rest(at, end)) {
		_cleanup_(freep) char *word = next_word(&at, end);

		if (!word)
			return err_set(e, ERR_PARSE, "a quote stays open");
		if (paths)
			add_path(log, word);
		else if (!strcmp(word, "--"))
			paths = true;
		else if (!strcmp(word, "--first-parent"))
			log->first_parent = true;
		else if (take_term(word, "--term-new", &at, end, known->bad) ||
			 take_term(word, "--term-bad", &at, end, known->bad) ||
			 take_term(word, "--term-old", &at, end, known->good) ||
			 take_term(word, "--term-good", &at, end, known->good))
			continue;
		else if (word[0] != '-')
			r = add_end(log, known, word, names++, e);
		if (log->n_paths > WORDS_MOST)
			r = err_set(e, ERR_TOO_BIG, "more than %d paths", WORDS_MOST);
	}
	return r;
}

static int word_of(const struct known *known, const char *verb, enum bisect_word *ret)
{
	if (!strcmp(verb, "good") || !strcmp(verb, "old") || !strcmp(verb, known->good))
		*ret = BISECT_WORD_GOOD;
	else if (!strcmp(verb, "bad") || !strcmp(verb, "new") || !strcmp(verb, known->bad))
		*ret = BISECT_WORD_BAD;
	else if (!strcmp(verb, "skip"))
		*ret = BISECT_WORD_SKIP;
	else
		return -1;
	return 0;
}

static int read_names(struct bisect_git_log *log, enum bisect_word word, const char *at,
		      const char *end, struct err *e)
{
	size_t before = log->n;

	while (has_rest(at, end)) {
		_cleanup_(freep) char *name = next_word(&at, end);
		int r;

		if (!name)
			return err_set(e, ERR_PARSE, "a quote stays open or a name is too long");
		r = add_word(log, name, word, e);
		if (r < 0)
			return r;
	}
	if (log->n == before)
		return err_set(e, ERR_PARSE, "no commit is named");
	return 0;
}

/* "[HASH]" at @at. */
static bool read_hash(const char *at, const char *end, char ret[41])
{
	if (end - at < 42 || *at != '[' || at[41] != ']' || strspn(at + 1, "0123456789abcdef") < 40)
		return false;
	memcpy(ret, at + 1, 40);
	ret[40] = '\0';
	return true;
}

/* "# first bad commit: [HASH] SUBJECT", or "# good: [HASH] SUBJECT" in whatever term. */
static void read_comment(struct bisect_git_log *log, struct known *known, const char *at,
			 const char *end)
{
	static const char lead[] = "# first bad commit: ";
	const char *colon = memchr(at, ':', (size_t)(end - at));
	char hash[41];

	if ((size_t)(end - at) >= sizeof(lead) - 1 && !memcmp(at, lead, sizeof(lead) - 1)) {
		if (read_hash(at + sizeof(lead) - 1, end, hash))
			memcpy(log->culprit, hash, sizeof(hash));
		return;
	}
	if (!colon || colon - at < 3 || memchr(at + 2, ' ', (size_t)(colon - at) - 2) ||
	    end - colon < 2 || !read_hash(colon + 2, end, hash) || known->n_hashes >= WORDS_MOST)
		return;
	if (known->n_hashes % 64 == 0)
		known->hashes =
			xreallocarray(known->hashes, known->n_hashes + 64, sizeof(*known->hashes));
	memcpy(known->hashes[known->n_hashes++], hash, sizeof(hash));
}

static int read_line(struct bisect_git_log *log, struct known *known, const char *at,
		     const char *end, struct err *e)
{
	_cleanup_(freep) char *git = NULL;
	_cleanup_(freep) char *bisect = NULL;
	_cleanup_(freep) char *verb = NULL;
	enum bisect_word word;

	if (end > at && end[-1] == '\r')
		end--;
	if (end > at && *at == '#')
		read_comment(log, known, at, end);
	if (!has_rest(at, end) || *at == '#')
		return 0;
	git = next_word(&at, end);
	bisect = git ? next_word(&at, end) : NULL;
	verb = bisect ? next_word(&at, end) : NULL;
	if (!verb || (strcmp(git, "git") != 0 && strcmp(git, "git-bisect") != 0) ||
	    strcmp(bisect, "bisect") != 0)
		return err_set(e, ERR_PARSE, "not a line of a 'git bisect log'");
	if (!strcmp(verb, "start"))
		return read_start(log, known, at, end, e);
	if (!strcmp(verb, "terms"))
		return 0;
	if (word_of(known, verb, &word) < 0)
		return err_set(e, ERR_PARSE, "'git bisect %.32s' is not known", verb);
	return read_names(log, word, at, end, e);
}

bool bisect_git_log_is(const char *text, size_t len)
{
	static const char start[] = "git bisect ";

	while (len > 0 && (*text == '#' || *text == '\n')) {
		const char *end = memchr(text, '\n', len);

		if (!end)
			return false;
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	return len >= sizeof(start) - 1 && memcmp(text, start, sizeof(start) - 1) == 0;
}

int bisect_git_log_read(const char *text, size_t len, struct bisect_git_log *ret, struct err *e)
{
	_cleanup_(bisect_git_log_done) struct bisect_git_log log = { 0 };
	struct known known = { .good = "good", .bad = "bad" };
	size_t line = 0;

	if (len > BISECT_LOG_MOST)
		return err_set(e, ERR_TOO_BIG, "log has %zu bytes, at most %d are read", len,
			       BISECT_LOG_MOST);
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		int r = read_line(&log, &known, text + at, text + at + n, e);

		line++;
		if (n > 0 && text[at] != '#')
			known.n_hashes = 0;
		if (r < 0) {
			free(known.hashes);
			return err_wrap(e, "line %zu", line);
		}
		at += n + 1;
	}
	free(known.hashes);
	if (log.n == 0)
		return err_set(e, ERR_PARSE, "the log says nothing of any commit");
	*ret = log;
	log = (struct bisect_git_log){ 0 };
	return 0;
}

void bisect_git_log_done(struct bisect_git_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->n; i++)
		free(log->names[i]);
	for (size_t i = 0; i < log->n_paths; i++)
		free(log->paths[i]);
	free(log->names);
	free(log->words);
	free(log->paths);
	memset(log, 0, sizeof(*log));
}

void bisect_words_posterior(const struct bisect_graph *g, const struct bisect_word_said *words,
			    size_t n, double wrong, double *p, size_t *ret_left)
{
	size_t *against = xcalloc(g->n, sizeof(*against));
	size_t least = n;
	double total = 0;

	*ret_left = 0;
	for (size_t c = 0; c < g->n; c++) {
		for (size_t i = 0; i < n; i++) {
			bool bad = words[i].commit >= 0 &&
				   bisect_graph_contains(g, (size_t)words[i].commit, c);

			against[c] += words[i].word != BISECT_WORD_SKIP &&
				      bad != (words[i].word == BISECT_WORD_BAD);
		}
		*ret_left += against[c] == 0;
		least = against[c] < least ? against[c] : least;
	}
	for (size_t c = 0; c < g->n; c++) {
		/* What all have against them cancels, and would be too small a number to hold. */
		p[c] = pow(wrong / (1 - wrong), (double)(against[c] - least));
		p[c] *= least == 0 || wrong > 0;
		total += p[c];
	}
	for (size_t c = 0; c < g->n && total > 0; c++)
		p[c] /= total;
	free(against);
}
