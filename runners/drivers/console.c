/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/console.h"

#include <ctype.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

static const char agent_prefix[] = "kperfbot-agent: ";

/*
 * Only the start of a message counts: the kernel's command line ("oops=panic"), a name of a function
 * or a quoted text may hold the same words.
 */
static const struct {
	const char *start;
	enum console_sign sign;
} patterns[] = {
	{ "Kernel panic - not syncing", CONSOLE_PANIC },
	{ "watchdog: BUG: soft lockup", CONSOLE_HANG },
	{ "BUG: soft lockup", CONSOLE_HANG },
	{ "BUG: workqueue lockup", CONSOLE_HANG },
	{ "watchdog: Watchdog detected hard LOCKUP", CONSOLE_HANG },
	{ "NMI watchdog: Watchdog detected hard LOCKUP", CONSOLE_HANG },
	{ "Watchdog detected hard LOCKUP", CONSOLE_HANG },
	{ "rcu: INFO: rcu_", CONSOLE_HANG },
	{ "INFO: rcu_", CONSOLE_HANG },
	{ "Out of memory: Killed process", CONSOLE_OOM },
	{ "Out of memory (oom_kill_allocating_task)", CONSOLE_OOM },
	{ "Memory cgroup out of memory: Killed process", CONSOLE_OOM },
	{ "BUG: ", CONSOLE_OOPS },
	{ "kernel BUG at ", CONSOLE_OOPS },
	{ "Oops: ", CONSOLE_OOPS },
	{ "Oops - ", CONSOLE_OOPS },
	{ "general protection fault", CONSOLE_OOPS },
	{ "Unable to handle kernel ", CONSOLE_OOPS },
	{ "unable to handle kernel ", CONSOLE_OOPS },
	{ "Internal error: ", CONSOLE_OOPS },
	{ "invalid opcode: ", CONSOLE_OOPS },
	{ "double fault: ", CONSOLE_OOPS },
	{ "traps: PANIC: double fault", CONSOLE_OOPS },
	{ "PANIC: double fault", CONSOLE_OOPS },
	{ "PANIC: early exception", CONSOLE_PANIC },
	{ "stack segment: ", CONSOLE_OOPS },
	{ "divide error: ", CONSOLE_OOPS },
};

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* Skips one "<4>", "[   12.345678]", "[  T123]" or "[    C0]"; NULL if there is none. */
static const char *skip_prefix(const char *s)
{
	const char *p = s;

	if (*p == '<') {
		p++;
		while (isdigit((unsigned char)*p))
			p++;
		return p > s + 1 && *p == '>' ? p + 1 : NULL;
	}
	if (*p != '[')
		return NULL;
	p++;
	p += strspn(p, " ");
	if (*p == 'T' || *p == 'C')
		p++;
	if (!isdigit((unsigned char)*p))
		return NULL;
	p += strspn(p, "0123456789.");
	return *p == ']' ? p + 1 : NULL;
}

enum console_sign console_line_sign(const char *line, const char **ret_text)
{
	const char *next;

	for (;;) {
		line += strspn(line, " \t");
		next = skip_prefix(line);
		if (!next)
			break;
		line = next;
	}
	if (ret_text)
		*ret_text = line;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (starts_with(line, patterns[i].start))
			return patterns[i].sign;
	}
	/* "task kworker/0:1:123 blocked for more than 120 seconds" */
	if (starts_with(line, "INFO: task ") && strstr(line, " blocked for more than "))
		return CONSOLE_HANG;
	return CONSOLE_NONE;
}

/* Printable ASCII without escape sequences, so that it can go into a log, a page or a mail. */
static void clean_line(const char *in, size_t len, struct strbuf *out)
{
	strbuf_reset(out);
	for (size_t i = 0; i < len; i++) {
		char c = in[i];

		if (c == '\033' && i + 1 < len && in[i + 1] == '[') {
			i += 2;
			while (i < len && !isalpha((unsigned char)in[i]))
				i++;
			continue;
		}
		if (c == '\r' || c == '\033')
			continue;
		if (c == '\t')
			c = ' ';
		else if (c < ' ' || c > '~')
			c = '?';
		strbuf_addch(out, c);
	}
}

/* Looks at the current line, whole or not: a machine that dies does not end its line. */
static void line_match(struct console *c)
{
	_cleanup_(strbuf_done) struct strbuf clean = STRBUF_INIT;
	const char *text;
	enum console_sign sign;

	if (!c->line.len)
		return;
	clean_line(c->line.s, c->line.len, &clean);
	sign = console_line_sign(strbuf_str(&clean), &text);
	if (starts_with(text, agent_prefix)) {
		free(c->agent);
		c->agent = xstrdup(text + strlen(agent_prefix));
	}
	if (sign == CONSOLE_NONE || (c->signs[sign] && c->line_sign != sign))
		return;
	free(c->signs[sign]);
	c->signs[sign] = xstrdup(text);
	c->line_sign = sign;
}

static void keep(struct console *c, const char *p, size_t len)
{
	size_t room = CONSOLE_HEAD_MAX - c->head.len, n = len < room ? len : room;

	if (n)
		strbuf_add(&c->head, p, n);
	if (n == len)
		return;
	strbuf_add(&c->tail, p + n, len - n);
	if (c->tail.len > (size_t)2 * CONSOLE_TAIL_MAX) {
		size_t drop = c->tail.len - CONSOLE_TAIL_MAX;

		memmove(c->tail.s, c->tail.s + drop, CONSOLE_TAIL_MAX);
		c->tail.len = CONSOLE_TAIL_MAX;
		c->dropped += drop;
	}
}

void console_add(struct console *c, const void *data, size_t len)
{
	const char *p = data, *end = p + len;

	if (!len)
		return;
	keep(c, p, len);
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p), room = LINE_MAX_BYTES - c->line.len;

		/* A line that is full already cannot come to mean anything else. */
		if (n && room) {
			strbuf_add(&c->line, p, n < room ? n : room);
			line_match(c);
		}
		p += n;
		if (!nl)
			break;
		p++;
		strbuf_reset(&c->line);
		c->line_sign = CONSOLE_NONE;
	}
}

char *console_text(const struct console *c, size_t *ret_len)
{
	struct strbuf out = STRBUF_INIT;
	size_t skip = c->tail.len > CONSOLE_TAIL_MAX ? c->tail.len - CONSOLE_TAIL_MAX : 0;

	if (c->head.len)
		strbuf_add(&out, c->head.s, c->head.len);
	if (c->dropped + skip)
		strbuf_addf(&out, "\n[%zu bytes of console left out here]\n", c->dropped + skip);
	if (c->tail.len)
		strbuf_add(&out, c->tail.s + skip, c->tail.len - skip);
	*ret_len = out.len;
	return strbuf_take(&out);
}

void console_done(struct console *c)
{
	if (!c)
		return;
	strbuf_done(&c->head);
	strbuf_done(&c->tail);
	strbuf_done(&c->line);
	for (int i = 0; i < CONSOLE_SIGNS; i++)
		free(c->signs[i]);
	free(c->agent);
	memset(c, 0, sizeof(*c));
}
