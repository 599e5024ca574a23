/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A regression and its evidence in, the complete mail out. Pure: time, host and ids are part of the
 * input, so the same input gives the same bytes.
 */
#pragma once

#include "bot/base/vec.h"
#include "bot/mail/recipients.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

/* Limits of a mail: lines and bytes of its text, before it is encoded. */
#define COMPOSE_MAX_LINES 120
#define COMPOSE_MAX_BYTES 20000

/** COMPOSE_FORMAT - what the key "format" of the input says, if it is there. */
#define COMPOSE_FORMAT "kperfbot-report/1"

#define COMPOSE_MODES 3

/** struct compose_mode - @share of the runs of a side gather near @center. */
struct compose_mode {
	double share;
	double center;
};

/**
 * struct compose_side - one side of a comparison.
 * @mean, @sd: in the unit of the metric; NAN: not measured. @n: number of runs; 0: not known.
 * @modes: where its runs gather, if at several values; 0 of them: nothing is said.
 */
struct compose_side {
	double mean;
	double sd;
	int64_t n;
	struct compose_mode modes[COMPOSE_MODES];
	size_t nmodes;
};

/** struct compose_change - relative change, -0.038 is 3.8 % less, and its interval; NAN: unknown. */
struct compose_change {
	double rel;
	double lo;
	double hi;
};

/** struct compose_metric - a line of the table. @name without the name of the suite; @unit or NULL. */
struct compose_metric {
	const char *name;
	const char *unit;
	struct compose_side base;
	struct compose_side head;
	struct compose_change change;
};

struct compose_commit {
	const char *commit;
	const char *title;
	double p;
};

/**
 * struct compose_fix - a commit that claims to fix the culprit, or to take it back if @reverts.
 * @day: when it was committed, "2030-11-06"; "": unknown.
 * @by_title: it gives the title alone, its id is unknown.
 * @measured: 0 no, 1 yes, -1 not said.
 */
struct compose_fix {
	const char *commit;
	const char *title;
	const char *branch;
	char day[11];
	bool reverts;
	bool by_title;
	int measured;
};

struct compose_param {
	const char *key;
	const char *value;
};

/**
 * struct compose_check - one line under Checks.
 * @name: "aa", "again" (parent measured again), "bb" (this commit measured again), "machine" (another
 *        machine), "align64" or "align" (both sides built with aligned functions); any other name is
 *        printed as it is.
 * @commit: of "aa", "again", "bb": what was measured again, where that is another commit; or NULL.
 * @same_day: of these: 1 all of it within 24 hours.
 * @ok: 1 fine, 0 not, -1 not said.
 */
struct compose_check {
	const char *name;
	const char *machine;
	const char *commit;
	const char *text;
	struct compose_change change;
	int same_day;
	int ok;
};

struct compose_symbol {
	const char *symbol;
	double base;
	double head;
};

/** struct compose_step - one step of the bisection; @skip is a reason or NULL; NAN and 0: unknown. */
struct compose_step {
	int64_t n;
	const char *commit;
	const char *skip;
	int64_t runs;
	double rel;
	double p_bad;
	double left;
};

enum compose_better {
	COMPOSE_BETTER_NONE,
	COMPOSE_BETTER_HIGHER,
	COMPOSE_BETTER_LOWER,
};

/**
 * struct compose_input - everything that a report says.
 *
 * Strings are clean one-line UTF-8 and belong to the input; NULL means unknown, and what is unknown
 * is left out of the mail. compose_input_from_json() fills it; compose_input_done() it.
 */
struct compose_input {
	const char *id;
	int64_t seq;
	const char *host;
	int64_t at;
	const char *url;
	const char *archive;
	const char *contact;
	bool replies;

	const char *tree;
	const char *branch;
	const char *tested_as;
	int in_mainline;
	const char *machine;
	const char *suite;
	const char *class;
	enum lives_in lives_in;
	bool lives_in_known;
	VEC(struct compose_param) params;

	const char *metric;
	enum compose_better better;
	struct compose_metric headline;
	double level;
	bool interleaved;
	int64_t metric_count;
	VEC(struct compose_metric) metrics;

	struct compose_commit culprit;
	const char *parent;
	VEC(struct compose_commit) runners_up;
	VEC(struct compose_fix) possibly_fixed;

	bool from_history;
	bool one_peak;
	VEC(const char *) findings;
	VEC(struct compose_check) checks;
	const char *net_since;
	double net_rel;
	const char *net_because;
	double net_because_rel;
	VEC(struct compose_symbol) profile;
	int64_t broad_tested;
	int64_t broad_moved;
	double broad_limit;

	int64_t sockets;
	int64_t cpus;
	int64_t memory_bytes;
	int64_t swap_bytes;
	const char *thp;
	const char *governor;
	const char *compiler;
	const char *accel;
	VEC(const char *) facts;

	const char *bisect;
	const char *good;
	const char *bad;
	int64_t commits;
	int64_t steps_done;
	VEC(struct compose_step) steps;
	const char *revert_on;
	struct compose_change revert;

	double repro_minutes;
	const char *repro_note;
	VEC(const char *) repro;

	const char *reply_to_id;
	const char *reply_to_subject;
	VEC(const char *) references;
	VEC(struct recipient) recipients;

	VEC(char *) pool;
	VEC(char *) notes;
};

/**
 * compose_input_from_json() - read a regression with its evidence.
 * @root: an object as below; borrowed.
 * @ret: filled on success only; compose_input_done() it.
 *
 * Fractions, not percent; SI units; RFC 3339 times in UTC; full hashes (40 hex digits; 12 to 40 are
 * taken). An absent key means unknown. (*) is required. Text may hold anything: it is made one line
 * of visible UTF-8 and cut. Unknown keys at the top are ignored with a note in @ret->notes.
 *
 *   format          "kperfbot-report/1"; absent: the same
 *   id *            "r" and 7 of 0-9 a-z without i l o u; names the report in every header
 *   seq             number of this mail in its report, from 1 (the N of the Message-ID); default 1
 *   at *            when the mail was made; absent: the latest history[].at
 *   host *          mail and Message-ID host; absent: host of threads[0].message_id
 *   url             start of links to pages ("https://perf.example.org"); absent: no links
 *   archive         start of links to mails by Message-ID ("https://lore.example.org/r")
 *   contact         mail address of the people behind the bot
 *   replies         false: nobody reads commands in answers, offer none; default true
 *   state           not used; direction: "worse", anything else is refused
 *   class           "micro", "broad", "unknown"
 *   tree *, branch  names; tested_as: tag or version in which the change was seen
 *   in_mainline     true or false
 *   machine *, suite *
 *   params          {"test": "…", "runtime": "300s", "nr_task": 128, …}: strings, numbers, booleans
 *   metric *        {"name" *: "SUITE.metric", "unit", "better": "higher"|"lower"|"none"}
 *   effect *        {"rel" *, "lo", "hi", "level" (0.95), "base": SIDE, "head": SIDE};
 *                   SIDE is {"mean", "sd", "n"}: sd in the unit of the metric, n in runs; and
 *                   "modes": [{"share", "center"}] where its runs gather at several values
 *   one_peak        true: enough was measured to say that neither side has several modes
 *   found           "history": a step over several commits, and not a pair of neighbours, showed it
 *   findings        ["…"]: sentences about what changed; what the mail says elsewhere is left out
 *   interleaved     true: base and head were measured in turns
 *   metrics         side lines [{"name", "unit", "rel", "lo", "hi", "base": SIDE, "head": SIDE}]
 *   metric_count    how many metrics the page shows
 *   culprit *       {"commit" *, "title" *, "p", "parent", "lives_in"}; parent: hash it was compared
 *                   with; author and confirmed are not used
 *   runners_up      [{"commit", "p"}], the likeliest first
 *   possibly_fixed  [{"commit" *, "title", "says": "fixes"|"reverts", "by_title", "branch",
 *                   "commit_time", "measured"}]: see struct compose_fix, the newest first; a
 *                   commit_time that is none is left out
 *   checks          [{"name", "rel", "lo", "hi", "ok", "machine", "commit", "same_day", "text"}]: see
 *                   struct compose_check; text is added to the line
 *   net             {"since", "rel", "because": {"commit", "rel"}}: change over a whole release
 *   profile         [{"symbol", "base", "head"}]: shares of all cycles
 *   broad           {"tested", "moved", "limit" (0.01)}: broad benchmarks, and how many moved by limit
 *   box             {"sockets", "cpus", "memory_bytes", "swap_bytes" (0: none), "thp", "governor",
 *                   "compiler", "accel": "icount"|"kvm"|"tcg", "facts": ["…"]}
 *   bisect          id of the bisection, "b…"
 *   bisection       {"good", "bad": names as asked, "commits", "steps": number done,
 *                   "log": [{"n", "commit", "runs": number or list of ids, "rel", "p_bad", "left",
 *                            "verdict": "good"|"bad"|"skip", "reason"}],
 *                   "revert": {"on", "rel", "lo", "hi"}: reverting the culprit on top of "on"}
 *   reproduce       {"minutes": a kernel, "note", "commands": ["…"]}: shell lines
 *   in_reply_to     {"message_id" *, "subject" *, "references": ["…"]}: mail that became the commit
 *   threads         [{"message_id", "url"}]: only for host
 *   history         [{"at"}]: only for at
 *   recipients      [{"addr" *, "name", "reason", "to": bool}]: at most RECIPIENTS_MAX, as
 *                   recipients_choose() gives them; without any "to" the first is To
 *
 * Return: 0; ERR_PARSE for a wrong type or missing key (names it), ERR_RANGE, ERR_INVAL,
 * ERR_FORMAT for an unknown format.
 */
int compose_input_from_json(const json_t *root, struct compose_input *ret, struct err *e);

void compose_input_done(struct compose_input *in);

/**
 * struct compose_mail - a mail as it goes out.
 * @bytes: headers and body, 7-bit, lines of at most 998 bytes with CR LF ends; @len of them.
 * @message_id: without `<>`. @subject: UTF-8, not encoded. @from: the envelope sender.
 * @rcpts: addresses of To and Cc, each once.
 */
struct compose_mail {
	char *bytes;
	size_t len;
	char *message_id;
	char *subject;
	char *from;
	VEC(char *) rcpts;
};

/** compose_setup() - start GMime; call once from main() before anything else here. */
void compose_setup(void);

/**
 * compose_report() - the first mail about a regression.
 * @ret: filled on success only; compose_mail_done() it.
 *
 * The order and style of the text are fixed: prose in 72 columns, tables in 80; it has at most
 * COMPOSE_MAX_LINES and COMPOSE_MAX_BYTES, evidence is shortened from the least important on. A
 * heading is printed only if it has an entry. Without recipients the mail says
 * "To: undisclosed-recipients:;" and @ret->rcpts is empty.
 * Return: 0; ERR_INVAL if the change is not for the worse, or not one at all; ERR_TOO_BIG if even the
 * shortest text is too long, which clean input of compose_input_from_json() does not reach.
 */
int compose_report(const struct compose_input *in, struct compose_mail *ret, struct err *e);

/**
 * compose_kind() - the same by name: "report" or a kind that is not there (ERR_UNSUPPORTED).
 */
int compose_kind(const char *kind, const struct compose_input *in, struct compose_mail *ret,
		 struct err *e);

/**
 * compose_gate() - may this report be sent without a person looking at it first?
 *
 * Refused: a culprit with p below 0.9 or unknown, an interval that is unknown or touches zero, a
 * failed check "aa", "again" or "bb" (the machine drifts) or "align64" (the commit may only have
 * moved other code about), nobody to send it to. Return: 0; ERR_PERM with the reason.
 */
int compose_gate(const struct compose_input *in, struct err *e);

void compose_mail_done(struct compose_mail *m);
