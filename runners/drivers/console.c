/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/console.h"

#include "runners/drivers/console_match.h"

#include <string.h>

#define LINE_MAX_BYTES 1024

static const char agent_prefix[] = "kperfbot-agent: ";

enum console_sign console_line_sign(const char *line, const char **ret_text)
{
	struct console_prefix prefix;
	const char *text = console_prefix_skip(line, &prefix);

	if (ret_text)
		*ret_text = text;
	return console_message_sign(text);
}

/* The first message of a sign stays, but one that is still being written may grow. */
static void sign_set(struct console *c, enum console_sign sign, const char *text)
{
	if (sign == CONSOLE_NONE || c->signs[sign])
		return;
	c->signs[sign] = xstrdup(text);
	c->sign_line[sign] = c->lines;
}

/* "BUG: w" is an oops until it goes on as "BUG: workqueue lockup". */
static void line_take_back(struct console *c)
{
	for (int i = 0; i < CONSOLE_SIGNS; i++) {
		if (c->signs[i] && c->sign_line[i] == c->lines) {
			free(c->signs[i]);
			c->signs[i] = NULL;
		}
	}
}

static struct console_open *open_find(struct console *c, const char *caller)
{
	for (int i = 0; i < CONSOLE_OPEN_MAX; i++) {
		if (c->open[i].text && !strcmp(c->open[i].caller, caller))
			return &c->open[i];
	}
	return NULL;
}

static void open_drop(struct console_open *o)
{
	free(o->text);
	o->text = NULL;
}

/* @text of @len bytes was cut by a message of somebody else. */
static void open_add(struct console *c, const char *caller, const char *text, size_t len)
{
	struct console_open *o = open_find(c, caller);

	if (!o)
		o = &c->open[c->nopen++ % CONSOLE_OPEN_MAX];
	free(o->text);
	o->text = xasprintf("%.*s", (int)len, text);
	memcpy(o->caller, caller, sizeof(o->caller));
}

static bool is_boot(const char *text)
{
	return !strncmp(text, "Linux version ", 14);
}

/* Does @text end what @o began? Then that is a message. */
static void open_join(struct console *c, struct console_open *o, const char *text, bool ended)
{
	_cleanup_(freep) char *joined = NULL;
	enum console_sign alone;

	if (!o || !o->text)
		return;
	joined = xasprintf("%s%s", o->text, text);
	/* What the part said alone, "BUG: w", does not count any more. */
	alone = console_message_sign(o->text);
	if (c->signs[alone] && !strcmp(c->signs[alone], o->text)) {
		free(c->signs[alone]);
		c->signs[alone] = NULL;
	}
	sign_set(c, console_message_sign(joined), joined);
	c->boots += ended && is_boot(joined) && !is_boot(o->text);
	if (ended)
		open_drop(o);
}

/* @text with the spaces before it that are its own: one belongs to the prefix. */
static const char *message_rest(const char *line, const char *text)
{
	const char *p = text;

	while (p > line && p[-1] == ' ')
		p--;
	return p < text ? p + 1 : p;
}

static void boot_note(struct console *c, const char *text, const struct console_prefix *prefix)
{
	if (is_boot(text) && (prefix->stamped ? prefix->time_s < 1 : !c->stamped))
		c->boots++;
}

/* One message, or what there is of it; @cut: another one was written into it. */
static void message_take(struct console *c, const char *line, size_t len, bool ended, bool cut)
{
	_cleanup_(freep) char *copy = xasprintf("%.*s", (int)len, line);
	struct console_prefix prefix;
	const char *text = console_prefix_skip(copy, &prefix);

	if (!strncmp(text, agent_prefix, strlen(agent_prefix))) {
		free(c->agent);
		c->agent = xstrdup(text + strlen(agent_prefix));
		return;
	}
	if (ended || cut)
		boot_note(c, text, &prefix);
	if (prefix.stamped) {
		c->stamped = true;
		sign_set(c, console_message_sign(text), text);
		open_join(c, open_find(c, prefix.caller), message_rest(copy, text), ended || cut);
		if (cut)
			open_add(c, prefix.caller, text, strlen(text));
	} else if (!c->stamped) {
		enum console_sign sign = console_message_sign(text);

		sign_set(c, sign ? sign : console_firmware_sign(text), text);
	} else {
		/* No kernel message by itself; it may be the rest of one that was cut. */
		if (console_message_sign(text) == CONSOLE_DISK)
			sign_set(c, CONSOLE_DISK, text);
		/* The unpacker of the next kernel has no stamps yet. */
		if (console_firmware_sign(text) == CONSOLE_PANIC)
			sign_set(c, CONSOLE_PANIC, text);
		for (int i = 0; i < CONSOLE_OPEN_MAX; i++)
			open_join(c, &c->open[i], copy, ended);
	}
	/* What comes next may be somebody else without time stamps. */
	if (ended && console_is_restart(text))
		c->stamped = false;
}

/* Looks at the current line, whole or not: a machine that dies does not end its line. */
static void line_match(struct console *c, bool ended)
{
	_cleanup_(strbuf_done) struct strbuf clean = STRBUF_INIT;
	const char *p, *next;

	if (!c->line.len)
		return;
	line_take_back(c);
	console_line_clean(c->line.s, c->line.len, &clean);
	/* A message may start in the middle of a line: of another CPU, or behind somebody's text. */
	for (p = strbuf_str(&clean); p; p = next) {
		next = console_stamp_find(p + (*p != '\0'));
		/* Level and spaces before the first stamp are no message. */
		if (next && strspn(p, "<0123456789> ") == (size_t)(next - p))
			continue;
		message_take(c, p, next ? (size_t)(next - p) : strlen(p), ended && !next,
			     ended && next);
	}
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

static const char *line_end_find(const char *p, const char *end)
{
	while (p < end && *p != '\n' && *p != '\r')
		p++;
	return p;
}

void console_add(struct console *c, const void *data, size_t len)
{
	const char *p = data, *end = p + len;

	if (!len)
		return;
	keep(c, p, len);
	while (p < end) {
		const char *nl = line_end_find(p, end);
		size_t n = (size_t)(nl - p), room = LINE_MAX_BYTES - c->line.len;

		/* A line that is full already cannot come to mean anything else. */
		if (n && room)
			strbuf_add(&c->line, p, n < room ? n : room);
		if (nl == end) {
			if (n && room)
				line_match(c, false);
			break;
		}
		line_match(c, true);
		p = nl + 1;
		strbuf_reset(&c->line);
		c->lines++;
	}
}

void console_forget(struct console *c)
{
	for (int i = 0; i < CONSOLE_SIGNS; i++) {
		free(c->signs[i]);
		c->signs[i] = NULL;
	}
	for (int i = 0; i < CONSOLE_OPEN_MAX; i++)
		open_drop(&c->open[i]);
	free(c->agent);
	c->agent = NULL;
	c->boots = 0;
	c->stamped = false;
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

static bool panic_is_hardware(const char *panic)
{
	return strcasestr(panic, "machine check") || strstr(panic, "NMI: IOCK") ||
	       strcasestr(panic, "hardware error");
}

static enum lab_class panic_class(const struct console *c, bool up, const char **ret_line)
{
	const char *panic = c->signs[CONSOLE_PANIC], *oops = c->signs[CONSOLE_OOPS];

	*ret_line = panic;
	if (strstr(panic, "Out of memory") || strstr(panic, "deadlocked on memory"))
		return LAB_OOM;
	if (panic_is_hardware(panic))
		return LAB_FAULT;
	if (up && !oops && strstr(panic, "Attempted to kill init"))
		return LAB_AGENT;
	/* "Fatal exception" alone says nothing: the oops before it does. */
	if (oops)
		*ret_line = oops;
	return up ? LAB_OOPS : LAB_BOOT_PANIC;
}

enum lab_class console_class(const struct console *c, bool up, const char **ret_line)
{
	static const struct {
		enum console_sign sign;
		enum lab_class before, after;
	} rest[] = {
		{ CONSOLE_OOPS, LAB_BOOT_PANIC, LAB_OOPS }, { CONSOLE_OOM, LAB_OOM, LAB_OOM },
		{ CONSOLE_HANG, LAB_BOOT_HANG, LAB_HANG },  { CONSOLE_DISK, LAB_DISK, LAB_DISK },
		{ CONSOLE_NET, LAB_NET, LAB_NET },
	};

	*ret_line = NULL;
	if (c->signs[CONSOLE_PANIC])
		return panic_class(c, up, ret_line);
	if (!up && c->boots >= CONSOLE_LOOP_BOOTS) {
		*ret_line = "the kernel started again and again";
		return LAB_BOOT_LOOP;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		*ret_line = c->signs[rest[i].sign];
		if (*ret_line)
			return up ? rest[i].after : rest[i].before;
	}
	return LAB_OK;
}

void console_done(struct console *c)
{
	if (!c)
		return;
	console_forget(c);
	strbuf_done(&c->head);
	strbuf_done(&c->tail);
	strbuf_done(&c->line);
	memset(c, 0, sizeof(*c));
}
