/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building plans. */
#include "bot/base/cleanup.h"
#include "bot/base/err.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "runners/suites/internal.h"

#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)

static void words_add(char ***argv, size_t *argc, char *word)
{
	*argv = xreallocarray(*argv, *argc + 2, sizeof(**argv));
	(*argv)[(*argc)++] = word;
	(*argv)[*argc] = NULL;
}

static void command_add(struct suite_plan *plan, enum suite_phase phase, unsigned copies,
			char **argv)
{
	plan->commands = xreallocarray(plan->commands, plan->n + 1, sizeof(*plan->commands));
	plan->commands[plan->n++] =
		(struct suite_command){ .argv = argv, .phase = phase, .copies = copies };
}

/* @first: a word that is taken as it is, before those of @fmt; taken over, may be NULL. */
__attribute__((format(printf, 5, 0))) static void plan_vadd(struct suite_plan *plan,
							    enum suite_phase phase, unsigned copies,
							    char *first, const char *fmt,
							    va_list ap)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	char **argv = NULL;
	size_t argc = 0;
	char *save = NULL;

	if (first)
		words_add(&argv, &argc, first);
	strbuf_vaddf(&b, fmt, ap);
	for (char *w = b.s ? strtok_r(b.s, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save))
		words_add(&argv, &argc, xstrdup(w));
	command_add(plan, phase, copies, argv);
}

void suite_plan_add(struct suite_plan *plan, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	plan_vadd(plan, PHASE_RUN, 1, NULL, fmt, ap);
	va_end(ap);
}

void suite_plan_add_phase(struct suite_plan *plan, enum suite_phase phase, unsigned copies,
			  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	plan_vadd(plan, phase, copies, NULL, fmt, ap);
	va_end(ap);
}

/* Append to a NULL-terminated list; takes @word over. */
static void list_add(char ***list, char *word)
{
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	*list = xreallocarray(*list, n + 2, sizeof(**list));
	(*list)[n] = word;
	(*list)[n + 1] = NULL;
}

void suite_plan_env(struct suite_plan *plan, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	list_add(&plan->env, strbuf_take(&b));
}

void suite_plan_identify(struct suite_plan *plan, const char *fmt, ...)
{
	struct strbuf b = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&b, fmt, ap);
	va_end(ap);
	list_add(&plan->identify, strbuf_take(&b));
}

void suite_plan_keep(struct suite_plan *plan, const char *file)
{
	list_add(&plan->keep, xstrdup(file));
}

static void list_free(char **list)
{
	for (char **w = list; w && *w; w++)
		free(*w);
	free(list);
}

static void list_freep(char ***list)
{
	list_free(*list);
}

void suite_plan_done(struct suite_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		list_free(plan->commands[i].argv);
	free(plan->commands);
	list_free(plan->env);
	list_free(plan->keep);
	list_free(plan->identify);
	free(plan->dir);
	*plan = (struct suite_plan){ 0 };
}

void suite_plan_tool(struct suite_plan *plan, const struct suite_machine *m, const char *tool,
		     const char *fmt, ...)
{
	char *first = m->path ? xasprintf("%s/%s", m->path, tool) : xstrdup(tool);
	va_list ap;

	va_start(ap, fmt);
	plan_vadd(plan, PHASE_RUN, 1, first, fmt, ap);
	va_end(ap);
}

void suite_plan_wrap(struct suite_plan *plan, const char *words)
{
	struct suite_command *c = &plan->commands[plan->n - 1];
	_cleanup_(freep) char *copy = xstrdup(words);
	char **argv = NULL;
	size_t argc = 0;
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		words_add(&argv, &argc, xstrdup(w));
	for (char **w = c->argv; *w; w++)
		words_add(&argv, &argc, *w);
	free(c->argv);
	c->argv = argv;
}

void suite_plan_repeat(struct suite_plan *plan, unsigned times)
{
	size_t last = plan->n - 1;

	for (unsigned i = 1; i < times; i++) {
		char **argv = NULL;
		size_t argc = 0;

		for (char **w = plan->commands[last].argv; *w; w++)
			words_add(&argv, &argc, xstrdup(*w));
		command_add(plan, plan->commands[last].phase, plan->commands[last].copies, argv);
	}
}

int suite_count(const struct suite_param *params, size_t n, const char *key, unsigned def,
		unsigned max, unsigned *ret, struct err *e)
{
	const char *value = suite_param_get(params, n, key, NULL);
	int64_t v = 0;
	int r;

	*ret = def;
	if (!value)
		return 0;
	r = parse_i64(value, 1, max, &v, e);
	if (r < 0)
		return err_wrap(e, "%.40s", key);
	*ret = (unsigned)v;
	return 0;
}

int suite_bytes(const struct suite_param *params, size_t n, const char *key, uint64_t def,
		uint64_t *ret, struct err *e)
{
	const char *value = suite_param_get(params, n, key, NULL);

	*ret = def;
	return value ? parse_size(value, ret, e) : 0;
}

int suite_need_memory(const char *what, uint64_t bytes, const struct suite_machine *m,
		      struct err *e)
{
	if (bytes <= m->mem_available_bytes)
		return 0;
	return err_set(e, ERR_NOSPACE, "%s fills %llu MiB, and the machine has %llu MiB free", what,
		       (unsigned long long)(bytes / MIB + (bytes % MIB != 0)),
		       (unsigned long long)(m->mem_available_bytes / MIB));
}

/* Return: the word that begins at @*p, which is moved behind it; NULL with @e set. */
static char *next_word(const char **p, const char *key, struct err *e)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	while (**p && **p != ' ') {
		char quote = **p;
		const char *end;

		if (quote != '\'' && quote != '"') {
			strbuf_addch(&b, *(*p)++);
			continue;
		}
		end = strchr(*p + 1, quote);
		if (!end) {
			(void)err_set(e, ERR_PARSE, "%s has a %c that is not closed: '%.80s'", key,
				      quote, *p);
			return NULL;
		}
		strbuf_add(&b, *p + 1, (size_t)(end - *p - 1));
		*p = end + 1;
	}
	return strbuf_take(&b);
}

int suite_plan_command(struct suite_plan *plan, enum suite_phase phase, const char *key,
		       const char *text, struct err *e)
{
	_cleanup_(list_freep) char **argv = NULL;
	size_t argc = 0;
	char *word;

	for (;;) {
		while (*text == ' ')
			text++;
		if (!*text)
			break;
		word = next_word(&text, key, e);
		if (!word)
			return ERR_PARSE;
		words_add(&argv, &argc, word);
	}
	if (argc == 0 || !*argv[0])
		return err_set(e, ERR_PARSE, "%s names no program", key);
	command_add(plan, phase, 1, take_ptr(argv));
	return 0;
}
