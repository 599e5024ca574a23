/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds for each page that the server makes. */
#pragma once

struct reply;

/**
 * assert_well_formed() - each tag is one of ours, has quoted attributes without handlers or styles,
 * and is nested well. @path is named where it is not so.
 */
void assert_well_formed(const char *path, const char *s);

/** assert_harmless() - a tag that stands in foreign text is text; the raw bytes are not there. */
void assert_harmless(const char *path, const struct reply *r);
