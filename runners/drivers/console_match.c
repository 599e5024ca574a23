/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/drivers/console_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * Only the start of a message counts: the kernel's command line ("oops=panic"), a name of a function
 * or a quoted text may hold the same words. The first that fits is taken.
 */
static const struct {
	const char *start;
	enum console_sign sign;
} patterns[] = {
	{ "Kernel panic - not syncing", CONSOLE_PANIC },
	{ "PANIC: early exception", CONSOLE_PANIC },
	{ "BUG: soft lockup", CONSOLE_HANG },
	{ "BUG: workqueue lockup", CONSOLE_HANG },
	{ "Watchdog detected hard LOCKUP", CONSOLE_HANG },
	{ "INFO: rcu_", CONSOLE_HANG },
	{ "Out of memory: Kill", CONSOLE_OOM },
	{ "Out of memory (oom_kill_allocating_task)", CONSOLE_OOM },
	{ "Memory cgroup out of memory: Kill", CONSOLE_OOM },
	{ "BUG: KCSAN: ", CONSOLE_NOTE },
	{ "UBSAN: ", CONSOLE_NOTE },
	{ "BUG: ", CONSOLE_OOPS },
	{ "kernel BUG at ", CONSOLE_OOPS },
	{ "Oops: ", CONSOLE_OOPS },
	{ "Oops - ", CONSOLE_OOPS },
	{ "Oops [#", CONSOLE_OOPS },
	{ "general protection fault", CONSOLE_OOPS },
	{ "Unable to handle kernel ", CONSOLE_OOPS },
	{ "unable to handle kernel ", CONSOLE_OOPS },
	{ "Internal error: ", CONSOLE_OOPS },
	{ "Unhandled fault: ", CONSOLE_OOPS },
	{ "SError Interrupt on CPU", CONSOLE_OOPS },
	{ "invalid opcode: ", CONSOLE_OOPS },
	{ "double fault: ", CONSOLE_OOPS },
	{ "PANIC: double fault", CONSOLE_OOPS },
	{ "stack segment: ", CONSOLE_OOPS },
	{ "divide error: ", CONSOLE_OOPS },
	{ "EXT4-fs error ", CONSOLE_DISK },
	{ "BTRFS error ", CONSOLE_DISK },
	{ "BTRFS critical ", CONSOLE_DISK },
	{ "Aborting journal on device ", CONSOLE_DISK },
	{ "Buffer I/O error on dev", CONSOLE_DISK },
	{ "I/O error, dev ", CONSOLE_DISK },
	{ "critical medium error, dev ", CONSOLE_DISK },
	{ "critical target error, dev ", CONSOLE_DISK },
	{ "critical space allocation error, dev ", CONSOLE_DISK },
};

/* Who speaks, before the words that tell. */
static const char *const speakers[] = {
	"watchdog: ",		"NMI watchdog: ",    "rcu: ",	      "traps: ",
	"blk_update_request: ", "print_req_error: ", "end_request: ",
};

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	while (n && s[n - 1] == ' ')
		n--;
	return n >= m && !strncmp(s + n - m, end, m);
}

/* Skips one "<4>", "[   12.345678]", "[  T123]" or "[    C0]"; NULL if there is none. */
static const char *skip_one(const char *s, struct console_prefix *ret)
{
	const char *p = s, *start;
	bool caller;

	if (*p == '<') {
		p++;
		p += strspn(p, "0123456789");
		return p > s + 1 && *p == '>' ? p + 1 : NULL;
	}
	if (*p != '[')
		return NULL;
	p++;
	p += strspn(p, " ");
	start = p;
	caller = *p == 'T' || *p == 'C';
	p += caller;
	if (!isdigit((unsigned char)*p))
		return NULL;
	p += strspn(p, caller ? "0123456789" : "0123456789.");
	if (*p != ']')
		return NULL;
	if (!caller) {
		ret->stamped = true;
		ret->time_s = strtod(start, NULL);
	} else if ((size_t)(p - start) < sizeof(ret->caller)) {
		memcpy(ret->caller, start, (size_t)(p - start));
		ret->caller[p - start] = '\0';
	}
	return p + 1;
}

const char *console_prefix_skip(const char *s, struct console_prefix *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (;;) {
		const char *next;

		s += strspn(s, " \t");
		next = skip_one(s, ret);
		if (!next)
			return s;
		s = next;
	}
}

/* "[   12.345678] ": the form that printk gives, and nothing that a person would type. */
static bool is_stamp(const char *s)
{
	size_t n;

	s++;
	s += strspn(s, " ");
	n = strspn(s, "0123456789");
	if (!n || s[n] != '.')
		return false;
	s += n + 1;
	return strspn(s, "0123456789") == 6 && s[6] == ']';
}

const char *console_stamp_find(const char *s)
{
	for (const char *p = s; (p = strchr(p, '[')); p++) {
		if (is_stamp(p) && (p == s || !strchr("\"'`", p[-1])))
			return p;
	}
	return NULL;
}

/* "WARNING: CPU: 1 PID: 2 at mm/x.c:3 f+0x1/0x2", or what a checker found; not any loud text. */
static bool is_warning(const char *text)
{
	static const char *const starts[] = { "CPU: ", "possible ", "suspicious ", "inconsistent ",
					      "bad " };

	if (!starts_with(text, "WARNING: "))
		return false;
	text += strlen("WARNING: ");
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		if (starts_with(text, starts[i]))
			return true;
	}
	text = strstr(text, ".c:");
	return text && isdigit((unsigned char)text[3]) && strstr(text, " at ");
}

/* Faults of a disk whose name comes first: "XFS (sda1): …", "EXT4-fs (vda): …", "nvme nvme0: …". */
static bool is_disk_fault(const char *text)
{
	const char *said = strstr(text, ": ");

	if (ends_with(text, "No space left on device"))
		return true;
	if (!said)
		return false;
	said += 2;
	if (starts_with(text, "EXT4-fs (") || starts_with(text, "XFS ("))
		return strstr(said, "I/O error") || strstr(said, "orruption") ||
		       strstr(said, "Remounting filesystem read-only") ||
		       strstr(said, "Shutting down filesystem");
	if (starts_with(text, "nvme "))
		return starts_with(said, "controller is down") || strstr(said, "timeout, aborting");
	return starts_with(text, "ata") && starts_with(said, "failed command: ");
}

/* A drive without a medium says this on every boot. */
static bool is_empty_drive(const char *text)
{
	const char *dev = strstr(text, "dev ");

	return dev && (starts_with(dev + 4, "fd") || starts_with(dev + 4, "sr"));
}

enum console_sign console_message_sign(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(speakers); i++) {
		if (starts_with(text, speakers[i]))
			text += strlen(speakers[i]);
	}
	/* "CPU0: Watchdog detected hard LOCKUP on cpu 1" */
	if (starts_with(text, "CPU") && strstr(text, ": Watchdog detected hard LOCKUP"))
		return CONSOLE_HANG;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (!starts_with(text, patterns[i].start))
			continue;
		return patterns[i].sign == CONSOLE_DISK && is_empty_drive(text) ? CONSOLE_NONE
										: patterns[i].sign;
	}
	/* "task kworker/0:1:123 blocked for more than 120 seconds" */
	if (starts_with(text, "INFO: task ") && strstr(text, " blocked for more than "))
		return CONSOLE_HANG;
	if (is_warning(text))
		return CONSOLE_NOTE;
	return is_disk_fault(text) ? CONSOLE_DISK : CONSOLE_NONE;
}

enum console_sign console_firmware_sign(const char *text)
{
	const char *p = strstr(text, "ipxe.org/");

	/* The kernel's own unpacker, before there are messages with a time. */
	if (starts_with(text, "-- System halted"))
		return CONSOLE_PANIC;
	/* iPXE puts an address with the number of the error behind each failure. */
	if (p && strspn(p + 9, "0123456789abcdef") >= 6 && ends_with(text, ")"))
		return CONSOLE_NET;
	if (starts_with(text, "PXE-E") && isdigit((unsigned char)text[5]))
		return CONSOLE_NET;
	if (starts_with(text, "No more network devices") ||
	    starts_with(text, "No bootable device") ||
	    starts_with(text, "Reboot and Select proper Boot device"))
		return CONSOLE_NET;
	return CONSOLE_NONE;
}

bool console_is_restart(const char *text)
{
	return starts_with(text, "kexec_core: Starting new kernel") ||
	       starts_with(text, "reboot: Restarting system") || starts_with(text, "SeaBIOS (") ||
	       starts_with(text, "iPXE initialising devices") || starts_with(text, "Rebooting in ");
}

/* Behind the escape sequence at @i. */
static size_t skip_escape(const char *in, size_t len, size_t i)
{
	if (i + 1 < len && in[i + 1] == '[') {
		for (i += 2; i < len && !isalpha((unsigned char)in[i]); i++)
			;
		return i + 1;
	}
	if (i + 1 < len && in[i + 1] == ']') {
		for (i += 2; i < len && in[i] != '\a' && in[i] != '\033'; i++)
			;
		return i + 1;
	}
	if (i + 2 < len && strchr("()#%", in[i + 1]))
		return i + 3;
	return i + 1;
}

void console_line_clean(const char *in, size_t len, struct strbuf *out)
{
	strbuf_reset(out);
	for (size_t i = 0; i < len;) {
		char c = in[i];

		if (c == '\033') {
			i = skip_escape(in, len, i);
			continue;
		}
		i++;
		/* A port that is switched on sends one of these before the first word. */
		if (!c)
			continue;
		if (c == '\t')
			c = ' ';
		else if (c < ' ' || c > '~')
			c = '?';
		strbuf_addch(out, c);
	}
}
