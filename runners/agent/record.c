/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/agent/record.h"

#include "bot/base/err.h"
#include "runners/agent/numbered.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Files of /proc come whole into this in most cases: then a sample is of one moment. */
#define BUF_SIZE   ((size_t)1 << 18)
#define FILES_MAX  1024
#define SLOW_TIMES 10

static const struct record_row rows[] = {
#define MONITOR(id, name, files, how, cheap, about) { name, files, RECORD_##how },
#include "runners/monitors/monitors.def"
#undef MONITOR
};

const struct record_row *record_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

static void note(struct recorder *r, const char *name, const char *text)
{
	(void)json_object_set_new(r->notes, name, json_string(text));
}

/* Return: 0, or why it is not there. */
static int file_open(struct record *rec, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno;
	rec->files = xreallocarray(rec->files, rec->nfiles + 1, sizeof(*rec->files));
	rec->files[rec->nfiles++] = (struct record_file){ xstrdup(path), fd };
	return 0;
}

static int numbered_open(struct record *rec, const char *pattern)
{
	char **paths;
	size_t n = numbered_paths(pattern, &paths);
	int r = n ? 0 : ENOENT;

	for (size_t i = 0; i < n && rec->nfiles < FILES_MAX; i++) {
		int r2 = file_open(rec, paths[i]);

		r = r ? r : r2;
	}
	numbered_free(paths);
	return r;
}

static void files_open(struct recorder *r, struct record *rec)
{
	_cleanup_(freep) char *list = xstrdup(rec->row->files);
	_cleanup_(freep) char *why = NULL;
	char *save = NULL;

	for (char *w = strtok_r(list, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		int err = strchr(w, '*') ? numbered_open(rec, w) : file_open(rec, w);

		if (err && !why)
			why = xasprintf("cannot read '%s': %s", w, strerror(err));
	}
	note(r, rec->row->name, why ? why : "ok");
}

static bool is_asked_before(char *const *names, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (!strcmp(names[k], names[i]))
			return true;
	}
	return false;
}

static void add(struct recorder *r, const char *name, double interval_s)
{
	const struct record_row *row = record_find(name);
	struct record rec = { .row = row };

	if (!row) {
		note(r, name, "there is no monitor of that name");
		return;
	}
	if (row->how == RECORD_RUSAGE)
		note(r, name, "ok");
	if (row->how == RECORD_RUSAGE || row->how == RECORD_PROGRAM)
		return;
	files_open(r, &rec);
	rec.interval_s = row->how == RECORD_SAMPLES ? interval_s
			 : row->how == RECORD_SLOW  ? interval_s * SLOW_TIMES
						    : INFINITY;
	if (!rec.nfiles)
		return;
	r->records = xreallocarray(r->records, r->n + 1, sizeof(*r->records));
	r->records[r->n++] = rec;
}

void record_init(struct recorder *r, char *const *names, double interval_s, struct sink *sink,
		 json_t *notes)
{
	*r = (struct recorder){ .sink = sink, .notes = notes, .buf_size = BUF_SIZE };
	r->buf = xcalloc(1, r->buf_size);
	/* Less than this is no interval, and zero would be for ever. */
	if (!(interval_s >= 0.01))
		interval_s = 0.01;
	for (size_t i = 0; names && names[i]; i++) {
		if (!is_asked_before(names, i))
			add(r, names[i], interval_s);
	}
}

/* Return: bytes sent of the file. */
static uint64_t file_send(struct recorder *r, const struct record *rec, int fd)
{
	uint64_t sent = 0;
	char last = '\n';

	while (sent < RECORD_MAX_BYTES) {
		ssize_t n = pread(fd, r->buf, r->buf_size, (off_t)sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sink_put(r->sink, rec->stream, r->buf, (size_t)n);
		sent += (uint64_t)n;
		last = r->buf[n - 1];
	}
	if (last != '\n') {
		sink_put(r->sink, rec->stream, "\n", 1);
		sent++;
	}
	return sent;
}

static void sample(struct recorder *r, struct record *rec, double now_s)
{
	uint64_t bytes;
	char line[PATH_MAX + 64];

	if (rec->full)
		return;
	if (!rec->stream) {
		_cleanup_(freep) char *name = xasprintf("monitor/%s", rec->row->name);

		rec->stream = sink_open(r->sink, name);
		if (!rec->stream && r->sink->ret == 0)
			note(r, rec->row->name, "too many streams");
	}
	/* Whole samples only: another as long as the longest so far has to fit. */
	if (!rec->stream || rec->sent + rec->last_bytes > RECORD_MAX_BYTES) {
		rec->full = true;
		if (rec->stream)
			note(r, rec->row->name, "cut at 64 MiB");
		return;
	}
	bytes = (uint64_t)snprintf(line, sizeof(line), "#sample %.6f\n", now_s - r->start_s);
	sink_put(r->sink, rec->stream, line, bytes);
	for (size_t i = 0; i < rec->nfiles; i++) {
		int n = snprintf(line, sizeof(line), "#file %s\n", rec->files[i].path);

		sink_put(r->sink, rec->stream, line, (size_t)n);
		bytes += (uint64_t)n + file_send(r, rec, rec->files[i].fd);
	}
	rec->sent += bytes;
	if (bytes > rec->last_bytes)
		rec->last_bytes = bytes;
}

static void sample_all(struct recorder *r, double now_s)
{
	for (size_t i = 0; i < r->n; i++) {
		sample(r, &r->records[i], now_s);
		r->records[i].next_s = now_s + r->records[i].interval_s;
	}
}

void record_start(struct recorder *r, double now_s)
{
	r->start_s = now_s;
	r->running = true;
	sample_all(r, now_s);
}

void record_stop(struct recorder *r, double now_s)
{
	if (!r->running)
		return;
	r->running = false;
	sample_all(r, now_s);
}

double record_tick(struct recorder *r, double now_s)
{
	double next = INFINITY;

	for (size_t i = 0; r->running && i < r->n; i++) {
		struct record *rec = &r->records[i];

		if (now_s >= rec->next_s) {
			sample(r, rec, now_s);
			/* On a grid; what was missed is not made up for. */
			rec->next_s += rec->interval_s *
				       (floor((now_s - rec->next_s) / rec->interval_s) + 1);
		}
		if (!rec->full && rec->next_s < next)
			next = rec->next_s;
	}
	return next;
}

void record_done(struct recorder *r)
{
	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < r->records[i].nfiles; k++) {
			free(r->records[i].files[k].path);
			closep(&r->records[i].files[k].fd);
		}
		free(r->records[i].files);
	}
	free(r->records);
	free(r->buf);
	*r = (struct recorder){ 0 };
}
