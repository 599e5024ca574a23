/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Monitors that are files: read through descriptors that stay open, and sent as they are. The format
 * of a recording is that of runners/monitors/monitor.h.
 */
#pragma once

#include "runners/agent/link.h"

/** RECORD_MAX_BYTES - a recording ends before it gets longer. */
#define RECORD_MAX_BYTES ((uint64_t)64 << 20)

/** enum record_how - as in monitors.def. */
enum record_how {
	RECORD_RUSAGE,
	RECORD_ENDS,
	RECORD_SAMPLES,
	RECORD_SLOW,
	RECORD_PROGRAM
};

/** struct record_row - a row of monitors.def; static. */
struct record_row {
	const char *name, *files;
	enum record_how how;
};

/** record_find() - the monitor called @name, or NULL. */
const struct record_row *record_find(const char *name);

/** struct record_file - one file of a recording; @path is owned. */
struct record_file {
	char *path;
	int fd;
};

/**
 * struct record - one monitor's recording.
 * @stream: 0 until the first sample.
 * @last_bytes: of the largest sample so far.
 */
struct record {
	const struct record_row *row;
	struct record_file *files;
	size_t nfiles;
	unsigned stream;
	uint64_t sent, last_bytes;
	double next_s, interval_s;
	bool full;
};

/**
 * struct recorder - all file monitors of a run. Caller-owned; record_init() before use.
 * @notes: object: what is to be said of each monitor; borrowed.
 * @buf: where files are read to; nothing is allocated for a sample.
 */
struct recorder {
	struct sink *sink;
	json_t *notes;
	struct record *records;
	size_t n;
	double start_s;
	bool running;
	char *buf;
	size_t buf_size;
};

/**
 * record_init() - open what the monitors in @names read; those that are programs are passed over.
 * @names: NULL-terminated, or NULL. Each gets a note, unless it is a program.
 */
void record_init(struct recorder *r, char *const *names, double interval_s, struct sink *sink,
		 json_t *notes);

/** record_start(), record_stop() - the first and the last sample of all of them. */
void record_start(struct recorder *r, double now_s);
void record_stop(struct recorder *r, double now_s);

/** record_tick() - take the samples that are due, without sending. Return: when the next one is. */
double record_tick(struct recorder *r, double now_s);

void record_done(struct recorder *r);
