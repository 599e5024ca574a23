/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of trailers: what a Fixes tag, a link and a revert say. Used by trailers.c alone. */
#pragma once

#include "bot/mail/trailers.h"

/** trailer_key_is() - compare a key without regard to case. */
bool trailer_key_is(const char *key, const char *want);

/** trailers_add_fix() - one Fixes tag from its joined value. */
void trailers_add_fix(struct trailers *t, const char *value);

/** trailers_fix_is_open() - does a Fixes value end inside its ("title? It goes on in the next line. */
bool trailers_fix_is_open(const char *value);

/** trailers_add_link() - if trailer number @index is one that names a page or mail, note it. */
void trailers_add_link(struct trailers *t, size_t index);

/** trailers_class_links() - set the kinds when all the trailers are there. */
void trailers_class_links(struct trailers *t);

/** trailers_find_reverts() - from the subject and the text @s of the whole message. */
void trailers_find_reverts(struct trailers *t, const char *s, size_t len);
