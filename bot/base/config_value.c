/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config_value.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/base/utf8.h"

#include <string.h>

static int check_choice(const struct config_key *k, const char *value, struct err *e)
{
	size_t n = strlen(value);

	for (const char *p = strchr(value, '|') ? NULL : k->extra; p; p = strchr(p, '|')) {
		p += *p == '|';
		if (!strncmp(p, value, n) && (p[n] == '|' || !p[n]) && n)
			return 0;
	}
	return err_set(e, ERR_CONFIG, "'%.80s' is not one of %s", value, k->extra);
}

#define VALUE_MAX 4096

/* Values go to the database, into mails and on command lines. */
static int check_text(const char *value, struct err *e)
{
	size_t len = strlen(value);

	if (len > VALUE_MAX)
		return err_set(e, ERR_CONFIG, "value has more than %d bytes", VALUE_MAX);
	for (size_t n; len; value += n, len -= n) {
		n = utf8_length(value, len);
		if (!n)
			return err_set(e, ERR_CONFIG, "value is not valid UTF-8 at '%.80s'", value);
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return err_set(e, ERR_CONFIG, "value has a control character");
	}
	return 0;
}

/* @v in the largest unit that it fills, of those in @units. */
static void add_scaled(struct strbuf *b, double v, const double *sizes, const char *units)
{
	size_t i = strlen(units);

	while (i > 0 && v < sizes[i - 1])
		i--;
	if (i == 0)
		strbuf_addf(b, "%.15g", v);
	else
		strbuf_addf(b, "%.4g%c", sizes[i - 1] > 0 ? v / sizes[i - 1] : v, units[i - 1]);
}

void config_value_add(struct strbuf *b, enum config_type type, double v)
{
	static const double bytes[] = { 0x1p10, 0x1p20, 0x1p30, 0x1p40 };
	static const double seconds[] = { 0, 60, 3600, 86400 };

	if (type == CONFIG_SIZE)
		add_scaled(b, v, bytes, "KMGT");
	else if (type == CONFIG_DURATION)
		add_scaled(b, v, seconds, "smhd");
	else
		strbuf_addf(b, "%.15g%s", type == CONFIG_RATIO ? 100 * v : v,
			    type == CONFIG_RATIO ? "%" : "");
}

static int check_range(const struct config_key *k, const char *value, double v, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	if (v >= k->min && v <= k->max)
		return 0;
	config_value_add(&b, k->type, k->min);
	strbuf_addstr(&b, " and ");
	config_value_add(&b, k->type, k->max);
	return err_set(e, ERR_RANGE, "'%.80s' is not between %s", value, strbuf_str(&b));
}

int config_value_parse(const struct config_key *k, const char *value, double *ret, struct err *e)
{
	uint64_t bytes;
	int64_t i;
	bool b;
	int r;

	*ret = 0;
	r = check_text(value, e);
	if (r < 0)
		return r;
	switch (k->type) {
	case CONFIG_INT:
		r = parse_i64(value, (int64_t)k->min, (int64_t)k->max, &i, e);
		*ret = r < 0 ? 0 : (double)i;
		return r;
	case CONFIG_F64:
		return parse_f64(value, k->min, k->max, ret, e);
	case CONFIG_BOOL:
		r = parse_bool(value, &b, e);
		*ret = r < 0 ? 0 : b;
		return r;
	case CONFIG_SIZE:
		r = parse_size(value, &bytes, e);
		*ret = r < 0 ? 0 : (double)bytes;
		break;
	case CONFIG_DURATION:
		r = parse_duration(value, ret, e);
		break;
	case CONFIG_RATIO:
		r = parse_ratio(value, ret, e);
		break;
	case CONFIG_ENUM:
		return check_choice(k, value, e);
	default:
		return *value ? 0 : err_set(e, ERR_CONFIG, "empty value");
	}
	return r < 0 ? r : check_range(k, value, *ret, e);
}
