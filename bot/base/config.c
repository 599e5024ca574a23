/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"

#include "bot/base/config_value.h"
#include "bot/base/err.h"
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/base/vec.h"

#include <assert.h>
#include <errno.h>
#include <git2.h>
#include <libgen.h>
#include <string.h>

static const struct config_key table[] = {
#define CONFIG_KEY(sec, nam, k, typ, ext, mn, mx, fb, fl, d) \
	{ .section = #sec,                                   \
	  .named = nam,                                      \
	  .key = #k,                                         \
	  .type = CONFIG_##typ,                              \
	  .extra = ext,                                      \
	  .min = mn,                                         \
	  .max = mx,                                         \
	  .fallback = fb,                                    \
	  .flags = fl,                                       \
	  .doc = d },
#include "bot/base/config_keys.def"
#undef CONFIG_KEY
};

struct config_value {
	const struct config_key *key;
	char *name; /* NULL for a section without name */
	char *value;
};

struct config {
	char *path;
	char *folder;
	VEC(struct config_value) values;
};

const struct config_key *config_keys(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(table);
	return table;
}

static const struct config_key *find_key(const char *section, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].section, section) && (!key || !strcmp(table[i].key, key)))
			return &table[i];
	return NULL;
}

/* "branch, poll, url": what would be right, for messages. */
static void list_choices(struct strbuf *b, const char *section)
{
	const char *last = "";

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (section && strcmp(table[i].section, section) != 0)
			continue;
		if (!section && !strcmp(table[i].section, last))
			continue;
		last = table[i].section;
		strbuf_addf(b, "%s%s", b->len ? ", " : "", section ? table[i].key : last);
	}
}

/* "tree.linus.url" into its three parts; the middle may hold dots. */
static int split_name(const char *full, char **section, char **name, char **key)
{
	const char *first = strchr(full, '.');
	const char *last = strrchr(full, '.');

	if (!first)
		return -1;
	*section = xstrndup(full, (size_t)(first - full));
	*key = xstrdup(last + 1);
	*name = first == last ? NULL : xstrndup(first + 1, (size_t)(last - first - 1));
	return 0;
}

/* libgit2 has read it by now, but passes over a file that is not there. */
static int check_include(const struct config *c, const git_config_entry *entry, struct err *e)
{
	_cleanup_(freep) char *path = NULL;

	if (!entry->value)
		return err_set(e, ERR_CONFIG, "%s: include.path: no value", c->path);
	/* What an included file includes is relative to that file, which we are not told. */
	if (entry->include_depth > 0 || entry->value[0] == '~')
		return 0;
	path = entry->value[0] == '/' ? xstrdup(entry->value)
				      : xasprintf("%s/%s", c->folder, entry->value);
	if (access(path, R_OK) < 0)
		return err_set(e, ERR_CONFIG, "%s: include.path: could not read '%s': %s", c->path,
			       path, strerrordesc_np(errno));
	return 0;
}

static int add_value(struct config *c, const git_config_entry *entry, struct err *e)
{
	_cleanup_(freep) char *section = NULL;
	_cleanup_(freep) char *name = NULL;
	_cleanup_(freep) char *key = NULL;
	_cleanup_(strbuf_done) struct strbuf choices = STRBUF_INIT;
	const struct config_key *k;
	struct config_value v;
	double ignored;

	if (split_name(entry->name, &section, &name, &key) < 0)
		return err_set(e, ERR_CONFIG, "%s: '%s' stands in no section", c->path,
			       entry->name);
	if (!strcmp(section, "include") && !name && !strcmp(key, "path"))
		return check_include(c, entry, e);
	k = find_key(section, NULL);
	if (!k) {
		list_choices(&choices, NULL);
		return err_set(e, ERR_CONFIG, "%s: unknown section '%.80s'; sections are %s",
			       c->path, section, strbuf_str(&choices));
	}
	if (k->named != !!name || (name && !parse_name(name)))
		return err_set(e, ERR_CONFIG,
			       "%s: section must be written [%s%s], not [%s%s%.80s%s]%s", c->path,
			       section, k->named ? " \"NAME\"" : "", section, name ? " \"" : "",
			       name ? name : "", name ? "\"" : "",
			       k->named && name ? "; a name is up to 64 letters, digits, dots, "
						  "hyphens and underscores"
						: "");
	k = find_key(section, key);
	if (!k) {
		list_choices(&choices, section);
		return err_set(e, ERR_CONFIG, "%s: unknown key '%.80s' in [%s]; keys are %s",
			       c->path, key, section, strbuf_str(&choices));
	}
	if (!entry->value || config_value_parse(k, entry->value, &ignored, e) < 0) {
		if (!entry->value)
			(void)err_set(e, ERR_CONFIG, "no value");
		(void)err_wrap(e, "%s: %s", c->path, entry->name);
		if (e)
			e->code = ERR_CONFIG;
		return ERR_CONFIG;
	}
	v = (struct config_value){ .key = k, .name = take_ptr(name) };
	if (k->type == CONFIG_PATH && entry->value[0] != '/')
		v.value = xasprintf("%s/%s", c->folder, entry->value);
	else
		v.value = xstrdup(entry->value);
	vec_push(&c->values, v);
	return 0;
}

static int check_refs(const struct config *c, struct err *e)
{
	vec_foreach (v, &c->values)
		if (v->key->type == CONFIG_REF && !config_has(c, v->key->extra, v->value))
			return err_set(e, ERR_CONFIG,
				       "%s: %s.%s.%s: there is no [%s \"%.80s\"], or no key in it",
				       c->path, v->key->section, v->name, v->key->key,
				       v->key->extra, v->value);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct config_key *k = &table[i];
		_cleanup_(freep) const char **names = NULL;

		if (!(k->flags & K_NEEDED))
			continue;
		names = config_names(c, k->section);
		for (size_t n = 0; names[n]; n++)
			if (!config_str(c, k->section, names[n], k->key))
				return err_set(e, ERR_CONFIG, "%s: [%s \"%s\"] has no '%s'",
					       c->path, k->section, names[n], k->key);
	}
	return 0;
}

DEFINE_CLEANUP(git_config *, git_config_free);
DEFINE_CLEANUP(git_config_iterator *, git_config_iterator_free);

static const char *git_why(void)
{
	const git_error *ge = git_error_last();

	return ge && ge->message ? ge->message : "no reason given";
}

#define FILE_MAX (1 << 20)

/* libgit2 stops at a NUL byte without a word. */
static int check_bytes(const char *path, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	if (file_read(path, FILE_MAX, &b, e) < 0) {
		if (e)
			e->code = ERR_CONFIG;
		return ERR_CONFIG;
	}
	if (b.len && memchr(b.s, '\0', b.len))
		return err_set(e, ERR_CONFIG, "%s: there is a NUL byte in it", path);
	return 0;
}

int config_load(const char *path, struct config **ret, struct err *e)
{
	_cleanup_(config_freep) struct config *c = xcalloc(1, sizeof(*c));
	_cleanup_(git_config_freep) git_config *gc = NULL;
	_cleanup_(git_config_iterator_freep) git_config_iterator *it = NULL;
	_cleanup_(freep) char *copy = NULL;
	_cleanup_(freep) char *real = realpath(path, NULL);
	git_config_entry *entry;
	int r;

	if (!real || access(path, R_OK) < 0)
		return err_set(e, ERR_CONFIG, "could not read configuration '%s': %s", path,
			       strerrordesc_np(errno));
	r = check_bytes(path, e);
	if (r < 0)
		return r;
	(void)git_libgit2_init();
	c->path = xstrdup(path);
	copy = xstrdup(real);
	c->folder = xstrdup(dirname(copy)); /* NOLINT(concurrency-mt-unsafe): own copy */
	if (git_config_open_ondisk(&gc, real) < 0 || git_config_iterator_new(&it, gc) < 0)
		return err_set(e, ERR_CONFIG, "%s: %s", path, git_why());
	while ((r = git_config_next(&entry, it)) == 0) {
		r = add_value(c, entry, e);
		if (r < 0)
			return r;
	}
	if (r != GIT_ITEROVER)
		return err_set(e, ERR_CONFIG, "%s: %s", path, git_why());
	r = check_refs(c, e);
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	vec_foreach (v, &c->values) {
		free(v->name);
		free(v->value);
	}
	vec_done(&c->values);
	free(c->path);
	free(c->folder);
	free(c);
}

static bool same_name(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

const char *config_str(const struct config *c, const char *section, const char *name,
		       const char *key)
{
	const struct config_key *k = find_key(section, key);
	const char *last;

	assert(k);
	last = k->fallback;
	vec_foreach (v, &c->values)
		if (v->key == k && same_name(v->name, name))
			last = v->value;
	return last;
}

static double number(const struct config *c, const char *section, const char *name, const char *key)
{
	const char *s = config_str(c, section, name, key);
	double v = 0;

	if (s)
		(void)config_value_parse(find_key(section, key), s, &v, NULL);
	return v;
}

int64_t config_i64(const struct config *c, const char *section, const char *name, const char *key)
{
	return (int64_t)number(c, section, name, key);
}

double config_f64(const struct config *c, const char *section, const char *name, const char *key)
{
	return number(c, section, name, key);
}

bool config_bool(const struct config *c, const char *section, const char *name, const char *key)
{
	return number(c, section, name, key) != 0;
}

const char **config_all(const struct config *c, const char *section, const char *name,
			const char *key)
{
	const struct config_key *k = find_key(section, key);
	VEC(const char *) list = { 0 };

	assert(k);
	vec_foreach (v, &c->values)
		if (v->key == k && same_name(v->name, name))
			vec_push(&list, v->value);
	if (!list.len && k->fallback)
		vec_push(&list, k->fallback);
	vec_push(&list, NULL);
	return list.items;
}

size_t config_count(const char **list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

const char **config_names(const struct config *c, const char *section)
{
	VEC(const char *) list = { 0 };

	vec_foreach (v, &c->values) {
		bool seen = false;

		if (!v->name || strcmp(v->key->section, section) != 0)
			continue;
		vec_foreach (have, &list)
			seen |= !strcmp(*have, v->name);
		if (!seen)
			vec_push(&list, v->name);
	}
	vec_push(&list, NULL);
	return list.items;
}

bool config_has(const struct config *c, const char *section, const char *name)
{
	vec_foreach (v, &c->values)
		if (!strcmp(v->key->section, section) && same_name(v->name, name))
			return true;
	return false;
}

/* Quoted, so that blanks, comment signs and quotes read back as they are. */
static void show_value(struct strbuf *b, const char *value)
{
	bool plain = strcspn(value, " \t\"\\#;") == strlen(value);

	strbuf_addstr(b, plain ? "" : "\"");
	for (const char *s = value; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addch(b, '\\');
		strbuf_addch(b, *s);
	}
	strbuf_addstr(b, plain ? "\n" : "\"\n");
}

static void show_section(const struct config *c, const char *section, const char *name,
			 struct strbuf *b)
{
	strbuf_addf(b, name ? "[%s \"%s\"]\n" : "[%s]\n", section, name);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct config_key *k = &table[i];
		bool set = false;

		if (strcmp(k->section, section) != 0)
			continue;
		vec_foreach (v, &c->values) {
			if (v->key != k || !same_name(v->name, name))
				continue;
			strbuf_addf(b, "\t%s = ", k->key);
			show_value(b, v->value);
			set = true;
		}
		if (!set && k->fallback)
			strbuf_addf(b, "\t# %s = %s\n", k->key, k->fallback);
	}
}

void config_show(const struct config *c, struct strbuf *ret)
{
	const char *last = "";

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		_cleanup_(freep) const char **names = NULL;

		if (!strcmp(table[i].section, last))
			continue;
		last = table[i].section;
		if (!table[i].named) {
			show_section(c, last, NULL, ret);
			continue;
		}
		names = config_names(c, last);
		for (size_t n = 0; names[n]; n++)
			show_section(c, last, names[n], ret);
	}
}
