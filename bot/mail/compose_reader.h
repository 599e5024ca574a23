/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of the JSON that a report is made of, each with its form and its limit. */
#pragma once

#include "bot/mail/compose.h"

/* Most entries that one array or object may have. */
#define COMPOSE_LIST_MAX 500

/* Most characters of a text. The lines of a shell command keep the blanks before them. */
#define NAME_CHARS     60
#define TITLE_CHARS    200
#define TEXT_CHARS     300
#define SENTENCE_CHARS 400
#define SHELL_CHARS    500

/**
 * struct compose_reader - the first problem is kept in @code and @e.
 * @in: owns the texts that are read.
 */
struct compose_reader {
	struct compose_input *in;
	struct err *e;
	int code;
};

/** reader_fail() - "report input: @what @want", unless something was wrong before. */
void reader_fail(struct compose_reader *r, int code, const char *what, const char *want);

/** reader_keep() - the reader's input owns @s from now on. Return: @s. */
const char *reader_keep(struct compose_reader *r, char *s);

/*
 * Each of these takes member @key of object @o and calls it @what where it complains. @o may be NULL:
 * then nothing is there. What is absent, null or wrong is NULL, NAN, @missing, or a time of -1.
 */

/** reader_get() - a member of any type. */
const json_t *reader_get(struct compose_reader *r, const json_t *o, const char *key,
			 const char *what, bool needed);

/** reader_text() - clean text of at most @max characters; empty text counts as absent. */
const char *reader_text(struct compose_reader *r, const json_t *o, const char *key,
			const char *what, size_t max, bool needed);

/** reader_f64() - a number of at most 1e18, either sign. */
double reader_f64(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		  bool needed);

/** reader_i64() - a whole number from 0. */
int64_t reader_i64(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		   int64_t missing);

/** reader_bool() - 0, 1 or @missing. */
int reader_bool(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		int missing);

/** reader_object() - an object. */
const json_t *reader_object(struct compose_reader *r, const json_t *o, const char *key,
			    const char *what, bool needed);

/** reader_array() - an array. Return: its length; 0 if it is none or longer than COMPOSE_LIST_MAX. */
size_t reader_array(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		    const json_t **ret);

/** reader_hash() - 12 to 40 lower-case hex digits. */
const char *reader_hash(struct compose_reader *r, const json_t *o, const char *key,
			const char *what, bool needed);

/** reader_id() - letter @first and seven characters of an id. */
const char *reader_id(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		      char first, bool needed);

/** reader_time() - seconds since 1970 from "2030-11-06T08:12:00Z"; no fraction. */
int64_t reader_time(struct compose_reader *r, const json_t *o, const char *key, const char *what);

/** reader_change() - a ratio and its interval; without one of its ends there is none. */
struct compose_change reader_change(struct compose_reader *r, const json_t *o, const char *what);

/** reader_texts() - @add each text of an array, clean and of at most @max characters. */
void reader_texts(struct compose_reader *r, const json_t *o, const char *key, const char *what,
		  size_t max, void (*add)(struct compose_input *, const char *));

/**
 * compose_read_evidence() - what the report rests on: checks, findings, the machine, how to
 * reproduce it, and the bisection. In compose_evidence.c.
 */
void compose_read_evidence(struct compose_reader *r, const json_t *root);
