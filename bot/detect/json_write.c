/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/json_write.h"

#include <math.h>
#include <string.h>

static void begin(struct json_out *o, const char *key)
{
	if (o->more)
		strbuf_addch(o->b, ',');
	o->more = true;
	if (!key)
		return;
	strbuf_addch(o->b, '"');
	strbuf_addstr(o->b, key); /* always one of ours */
	strbuf_add(o->b, "\":", 2);
}

void json_out_open(struct json_out *o, const char *key, char bracket)
{
	begin(o, key);
	strbuf_addch(o->b, bracket);
	o->more = false;
}

void json_out_close(struct json_out *o, char bracket)
{
	strbuf_addch(o->b, bracket);
	o->more = true;
}

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

void json_out_str(struct json_out *o, const char *key, const char *v)
{
	begin(o, key);
	strbuf_addch(o->b, '"');
	while (*v) {
		size_t n = 0;

		while (v[n] && !needs_escape((unsigned char)v[n]))
			n++;
		strbuf_add(o->b, v, n);
		v += n;
		if (!*v)
			break;
		if ((unsigned char)*v < 0x20)
			strbuf_addf(o->b, "\\u%04x", (unsigned)(unsigned char)*v);
		else
			strbuf_addf(o->b, "\\%c", *v);
		v++;
	}
	strbuf_addch(o->b, '"');
}

void json_out_int(struct json_out *o, const char *key, long v)
{
	begin(o, key);
	strbuf_addf(o->b, "%ld", v);
}

void json_out_bool(struct json_out *o, const char *key, bool v)
{
	begin(o, key);
	strbuf_addstr(o->b, v ? "true" : "false");
}

void json_out_num(struct json_out *o, const char *key, double v)
{
	if (!isfinite(v))
		return;
	begin(o, key);
	strbuf_addf(o->b, "%.15g", v);
}
