/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/watch/subject.h"

#include "bot/base/strbuf.h"
#include "bot/base/visible.h"

#include <string.h>

#define BLANKS " \t\r\v\f"

void subject_add(struct strbuf *to, const char *message)
{
	const size_t before = to->len;

	message += strspn(message, BLANKS "\n");
	while (*message && to->len - before < SUBJECT_MOST) {
		size_t line = strcspn(message, "\n");
		size_t n = line;

		while (n > 0 && strchr(BLANKS, message[n - 1]))
			n--;
		if (n == 0)
			break;
		if (to->len > before)
			strbuf_addch(to, ' ');
		visible_add(to, message, n < SUBJECT_MOST ? n : SUBJECT_MOST);
		message += line + (message[line] == '\n');
	}
}
