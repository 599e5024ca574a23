/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subject of a commit as git's %s has it. */
#pragma once

struct strbuf;

/** SUBJECT_MOST - longest subject that is told, bytes; a longer one is cut. */
#define SUBJECT_MOST 1000

/**
 * subject_add() - append the first paragraph of @message on one line, made visible as
 * bot/base/visible.h does: nothing of it can steer a terminal.
 */
void subject_add(struct strbuf *to, const char *message);
