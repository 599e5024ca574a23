/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw output stays; what it means can be found out again when a parser gets better. */
#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/cli_db.h"
#include "bot/cli/options.h"
#include "bot/db/db.h"
#include "bot/lab/run_parse.h"
#include "bot/store/artefact.h"
#include "bot/store/job.h"
#include "bot/store/run_stored.h"

#include <string.h>

/* Runs that are read at a time, and the most bytes of one output. */
#define BATCH	    100
#define TEXT_MAX    ((size_t)64 << 20)
#define REPORT_EACH 1000

struct reparse {
	struct cli *cli;
	struct db *db;
	const char *state;
	struct run_filter filter;
	bool dry_run;
	struct job job;
	int64_t read, changed, lost, found, unreadable;
};

static int read_options(struct cli *cli, int argc, char **argv, struct reparse *p)
{
	const struct cli_option options[] = {
		CLI_TEXT("job", &p->filter.job),
		CLI_TEXT("commit", &p->filter.commit),
		CLI_TEXT("since", &p->filter.since),
		CLI_FLAG("dry-run", &p->dry_run),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc)
		return cli_usage(cli, "what is '%s'?", argv[at]);
	if (p->filter.commit &&
	    (strspn(p->filter.commit, "0123456789abcdef") != strlen(p->filter.commit) ||
	     strlen(p->filter.commit) < 8))
		return cli_usage(cli, "--commit '%s' has to be 8 or more hex digits",
				 p->filter.commit);
	return 0;
}

/* @hash "": nothing was printed. */
static int get_text(struct reparse *p, const char *hash, struct strbuf *text, struct err *e)
{
	strbuf_addstr(text, "");
	return *hash ? artefact_get(p->state, hash, TEXT_MAX, text, e) : 0;
}

struct texts {
	struct strbuf raw, errors;
	struct strbuf *bufs;
	struct run_text *files;
	size_t n;
};

static void texts_done(struct texts *t)
{
	strbuf_done(&t->raw);
	strbuf_done(&t->errors);
	for (size_t i = 0; i < t->n; i++)
		strbuf_done(&t->bufs[i]);
	free(t->bufs);
	free(t->files);
}

static int read_texts(struct reparse *p, const struct run_stored *s, struct texts *t, struct err *e)
{
	const char *key;
	json_t *v;
	int r;

	t->bufs = xcalloc(json_object_size(s->files) + 1, sizeof(*t->bufs));
	t->files = xcalloc(json_object_size(s->files) + 1, sizeof(*t->files));
	r = get_text(p, s->raw, &t->raw, e);
	if (r == 0)
		r = get_text(p, s->errors, &t->errors, e);
	json_object_foreach (s->files, key, v) {
		if (r < 0)
			return r;
		r = get_text(p, json_string_value(v), &t->bufs[t->n], e);
		t->files[t->n] =
			(struct run_text){ key, strbuf_str(&t->bufs[t->n]), t->bufs[t->n].len };
		t->n++;
	}
	return r;
}

struct storing {
	const struct run_stored *run;
	const struct suite_output *out;
	const char *why;
};

static int store(struct db *db, void *arg, struct err *e)
{
	const struct storing *s = arg;

	return run_stored_set(db, s->run->id, s->out->metrics, s->out->n, s->why, e);
}

static int load_job(struct reparse *p, int64_t id, struct err *e)
{
	if (p->job.id == id)
		return 0;
	job_done(&p->job);
	return job_get(p->db, id, &p->job, e);
}

static int parse_one(struct reparse *p, const struct run_stored *s, struct suite_output *out,
		     char **ret_why, struct err *e)
{
	_cleanup_(texts_done) struct texts t = { 0 };
	struct run_texts texts;
	bool profiled = false;
	int r;

	r = load_job(p, s->job, e);
	if (r == 0)
		r = read_texts(p, s, &t, e);
	if (r < 0)
		return r;
	texts = (struct run_texts){
		.raw = { NULL, strbuf_str(&t.raw), t.raw.len },
		.errors = { NULL, strbuf_str(&t.errors), t.errors.len },
		.files = t.files,
		.nfiles = t.n,
		.rusage = json_object_get(s->about, "rusage"),
		.run_s = s->run_s,
		.tasks = (int)json_i64(s->about, "tasks", 0),
		.cpus = (int)json_i64(s->about, "cpus", 0),
	};
	r = run_parse(&p->job, &texts, out, &profiled, e);
	if (r == 0 && !profiled && !suite_metric_find(out, p->job.metric))
		*ret_why = xasprintf("no value for %s: %s", p->job.metric,
				     out->problems_n ? out->problems[0].text : "it is not printed");
	return r;
}

/* Return: 0, or an error of the database; what cannot be read is counted and said. */
static int reparse_one(struct reparse *p, const struct run_stored *s, struct err *e)
{
	_cleanup_(suite_output_done) struct suite_output out = { 0 };
	_cleanup_(freep) char *why = NULL;
	struct storing st = { .run = s, .out = &out };
	int r;

	p->read++;
	r = parse_one(p, s, &out, &why, e);
	if (r == ERR_DB || r == ERR_DB_AWAY)
		return r;
	if (r < 0) {
		p->unreadable++;
		cli_note(p->cli, "run %lld stays as it is: %s", (long long)s->id, e->msg);
		return 0;
	}
	st.why = why;
	if (!why == s->ok) {
		r = run_stored_differs(p->db, s->id, out.metrics, out.n, e);
		if (r <= 0)
			return r;
	}
	p->changed++;
	p->lost += why && s->ok;
	p->found += !why && !s->ok;
	return p->dry_run ? 0 : db_tx(p->db, store, &st, e);
}

/* A mistyped name must not look like a job without runs. */
static int check_job(const struct reparse *p, struct err *e)
{
	struct db_rows rows = { 0 };
	int r;

	if (!p->filter.job)
		return 0;
	r = db_run_one(p->db, SQL_JOB_KNOWN, &rows, e, "s", p->filter.job);
	db_rows_done(&rows);
	return r == ERR_NOENT ? err_set(e, ERR_NOENT, "there is no job '%.80s'", p->filter.job) : r;
}

static int reparse_all(struct reparse *p, struct err *e)
{
	int64_t after = 0;
	size_t n = 0;
	int r = 0;

	do {
		struct run_stored *list = NULL;

		r = run_stored_next(p->db, after, BATCH, &p->filter, &list, &n, e);
		if (r < 0)
			return r;
		for (size_t i = 0; r == 0 && i < n; i++) {
			after = list[i].id;
			r = reparse_one(p, &list[i], e);
			if (p->read % REPORT_EACH == 0)
				cli_note(p->cli, "%lld runs read, %lld changed", (long long)p->read,
					 (long long)p->changed);
		}
		run_stored_free(list, n);
	} while (r == 0 && n);
	return r;
}

static void tell(const struct reparse *p)
{
	_cleanup_(json_decrefp) json_t *j = NULL;

	if (!p->cli->json) {
		cli_out("%lld runs read again, %lld%s changed: %lld now have a headline value, "
			"%lld have none any more; %lld could not be read\n",
			(long long)p->read, (long long)p->changed, p->dry_run ? " would have" : "",
			(long long)p->found, (long long)p->lost, (long long)p->unreadable);
		return;
	}
	j = json_object();
	json_set_i64(j, "read", p->read);
	json_set_i64(j, "changed", p->changed);
	json_set_i64(j, "found", p->found);
	json_set_i64(j, "lost", p->lost);
	json_set_i64(j, "unreadable", p->unreadable);
	(void)json_object_set_new(j, "dry_run", json_boolean(p->dry_run));
	cli_json(j);
}

int cmd_reparse(struct cli *cli, int argc, char **argv)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_(db_closep) struct db *db = NULL;
	struct reparse p = { .cli = cli };
	struct err e = { 0 };
	int rc = read_options(cli, argc, argv, &p);

	if (rc)
		return rc;
	if (cli_db(cli, &c, &db, &e) < 0)
		return cli_fail(cli, &e);
	p.db = db;
	p.state = config_str(c, "kperfbot", NULL, "state");
	rc = check_job(&p, &e) < 0 || reparse_all(&p, &e) < 0 ? cli_fail(cli, &e) : EXIT_DONE;
	if (rc == EXIT_DONE)
		tell(&p);
	job_done(&p.job);
	return rc == EXIT_DONE && p.unreadable ? EXIT_WORSE : rc;
}
