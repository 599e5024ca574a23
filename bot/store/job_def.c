/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/store/job_def.h"

#include "bot/base/config.h"
#include "bot/base/err.h"
#include "bot/base/strbuf.h"

#include <ctype.h>
#include <string.h>

/* Keys of [job] that are params of the test; the params are called as in LKP. */
static const struct {
	const char *key;
	const char *param;
} param_keys[] = {
	{ "mode", "mode" },	      { "nr-task", "nr_task" }, { "runtime", "runtime" },
	{ "unit-size", "unit_size" }, { "pin", "pin" },
};

/* struct choice - a param with its values. */
struct choice {
	char *key;
	VEC(char *) values;
};

struct choices {
	VEC(struct choice) list;
};

static void choices_done(struct choices *cs)
{
	vec_foreach (c, &cs->list) {
		free(c->key);
		vec_foreach (v, &c->values)
			free(*v);
		vec_done(&c->values);
	}
	vec_done(&cs->list);
}

void job_def_done(struct job_def *d)
{
	for (size_t i = 0; i < d->nparams; i++) {
		free(d->params[i].key);
		free(d->params[i].value);
	}
	free(d->params);
	free(d->name);
	*d = (struct job_def){ 0 };
}

void job_defs_done(struct job_defs *d)
{
	vec_foreach (def, &d->list)
		job_def_done(def);
	vec_done(&d->list);
}

static bool is_text(const struct suite *s, const char *key)
{
	struct suite_param_info info;

	for (size_t i = 0; s && suite_param_info(s, i, &info); i++)
		if (!strcmp(info.key, key))
			return info.is_text;
	return false;
}

static char *trimmed(const char *s, size_t len)
{
	while (len && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return xstrndup(s, len);
}

static int add_choice(struct choices *cs, const struct suite *suite, const char *section,
		      const char *key, size_t key_len, const char *text, struct err *e)
{
	struct choice c = { .key = trimmed(key, key_len) };
	int r = 0;

	vec_foreach (o, &cs->list) {
		if (!strcmp(o->key, c.key))
			r = err_set(e, ERR_CONFIG, "job.%s: parameter '%.80s' is given twice",
				    section, c.key);
	}
	if (is_text(suite, c.key)) {
		vec_push(&c.values, trimmed(text, strlen(text)));
	} else {
		for (const char *p = text;; p++) {
			size_t len = strcspn(p, ",");
			char *value = trimmed(p, len);

			if (!*value && r == 0)
				r = err_set(e, ERR_CONFIG,
					    "job.%s: parameter %.80s = '%.80s' has an empty value",
					    section, c.key, text);
			vec_push(&c.values, value);
			p += len;
			if (!*p)
				break;
		}
	}
	vec_push(&cs->list, c);
	return r;
}

static int read_choices(const struct config *c, const char *section, struct choices *ret,
			struct err *e)
{
	const struct suite *suite = suite_find(config_str(c, "job", section, "suite"));
	_cleanup_(freep) const char **more = config_all(c, "job", section, "param");
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(param_keys); i++) {
		const char *v = config_str(c, "job", section, param_keys[i].key);
		const char *param = param_keys[i].param;

		if (v)
			r = add_choice(ret, suite, section, param, strlen(param), v, e);
	}
	for (size_t i = 0; r == 0 && more[i]; i++) {
		const char *equal = strchr(more[i], '=');

		if (!equal || equal == more[i])
			return err_set(
				e, ERR_CONFIG,
				"job.%s.param: '%.80s' has to be KEY=VALUE, e.g. nr_task=50%%",
				section, more[i]);
		r = add_choice(ret, suite, section, more[i], (size_t)(equal - more[i]), equal + 1,
			       e);
	}
	return r;
}

/* Part of a name that stands in addresses: "50%" is "50pct". */
static void add_name_part(struct strbuf *b, const char *value)
{
	strbuf_addch(b, '.');
	for (const char *p = value; *p; p++) {
		if (*p == '%')
			strbuf_addstr(b, "pct");
		else if (isalnum((unsigned char)*p) || *p == '_' || *p == '-')
			strbuf_addch(b, *p);
		else
			strbuf_addch(b, '-');
	}
}

/* Combination number @k: the last param varies fastest. */
static struct job_def make_def(const struct choices *cs, const char *section, size_t k)
{
	struct job_def d = { .section = section, .nparams = cs->list.len };
	struct strbuf name = STRBUF_INIT;

	d.params = xcalloc(d.nparams + 1, sizeof(*d.params));
	for (size_t i = cs->list.len; i > 0; i--) {
		const struct choice *c = &cs->list.items[i - 1];

		d.params[i - 1].key = xstrdup(c->key);
		d.params[i - 1].value = xstrdup(c->values.items[k % c->values.len]);
		k /= c->values.len;
	}
	strbuf_addstr(&name, section);
	for (size_t i = 0; i < cs->list.len; i++)
		if (cs->list.items[i].values.len > 1)
			add_name_part(&name, d.params[i].value);
	d.name = strbuf_take(&name);
	return d;
}

int job_defs_read(const struct config *c, const char *section, struct job_defs *ret, struct err *e)
{
	_cleanup_(choices_done) struct choices cs = { 0 };
	size_t n = 1;
	int r;

	r = read_choices(c, section, &cs, e);
	if (r < 0)
		return r;
	vec_foreach (choice, &cs.list) {
		n *= choice->values.len;
		if (n > JOB_DEFS_MAX)
			return err_set(e, ERR_CONFIG,
				       "job.%s: its lists of values make more than %d jobs",
				       section, JOB_DEFS_MAX);
	}
	for (size_t k = 0; k < n; k++) {
		struct job_def d = make_def(&cs, section, k);

		vec_foreach (o, &ret->list) {
			if (r == 0 && !strcmp(o->name, d.name))
				r = err_set(e, ERR_CONFIG,
					    "job.%s: two jobs would be called '%.80s'", section,
					    d.name);
		}
		vec_push(&ret->list, d);
	}
	return r;
}

int job_defs_all(const struct config *c, struct job_defs *ret, struct err *e)
{
	_cleanup_(freep) const char **sections = config_names(c, "job");
	int r = 0;

	for (size_t i = 0; r == 0 && sections[i]; i++)
		r = job_defs_read(c, sections[i], ret, e);
	return r;
}

int job_def_find(const struct config *c, const char *name, struct job_def *ret, struct err *e)
{
	_cleanup_(job_defs_done) struct job_defs all = { 0 };
	int r;

	r = job_defs_all(c, &all, e);
	if (r < 0)
		return r;
	vec_foreach (d, &all.list) {
		if (strcmp(d->name, name) != 0)
			continue;
		*ret = *d;
		*d = (struct job_def){ 0 };
		return 0;
	}
	return err_set(e, ERR_NOENT, "no [job] section makes a job '%.80s'", name);
}
