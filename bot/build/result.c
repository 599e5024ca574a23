/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/child.h"
#include "bot/base/err.h"
#include "bot/build/build_priv.h"

#include <string.h>

#define DETAIL_MAX 300

/* One printable ASCII line from hostile output, without the paths of the sandbox. */
char *output_line(const char *line, size_t len)
{
	char *s;

	if (len > 5 && strncmp(line, "/src/", 5) == 0)
		line += 5, len -= 5;
	s = xstrndup(line, len < DETAIL_MAX ? len : DETAIL_MAX);
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = '?';
	return s;
}

char *output_find(const char *log, const char *const *words)
{
	while (*log) {
		size_t len = strcspn(log, "\n");

		for (const char *const *w = words; *w; w++)
			if (memmem(log, len, *w, strlen(*w)))
				return output_line(log, len);
		log += len + (log[len] == '\n');
	}
	return NULL;
}

/* "mm/x.c:12:3: error: …", also without the column */
bool output_blames_source(const char *line)
{
	const char *p = strstr(line, ": error: ");
	const char *digits;

	if (!p)
		p = strstr(line, ": fatal error: ");
	for (digits = p; p && digits > line && digits[-1] >= '0' && digits[-1] <= '9';)
		digits--;
	return p && digits < p && digits > line && digits[-1] == ':';
}

static char *find_diagnostic(const char *log)
{
	while (*log) {
		size_t len = strcspn(log, "\n");
		char *line = output_line(log, len);

		if (output_blames_source(line))
			return line;
		free(line);
		log += len + (log[len] == '\n');
	}
	return NULL;
}

char *output_reason(const char *log)
{
	/* From the telling to the vague: what the linker misses, what it says, what make says. */
	static const char *const words[][4] = {
		{ "undefined reference", "undefined symbol", "ERROR: ", NULL },
		{ "ld: ", NULL },
		{ ": error: ", "*** ", "rror: ", NULL },
	};
	char *line = find_diagnostic(log);
	size_t end = strlen(log);
	size_t from;

	for (size_t i = 0; !line && i < ARRAY_SIZE(words); i++)
		line = output_find(log, words[i]);
	if (line)
		return line;
	while (end && log[end - 1] == '\n')
		end--;
	for (from = end; from && log[from - 1] != '\n';)
		from--;
	return end > from ? output_line(log + from, end - from) : xstrdup("no output");
}

void build_result_done(struct build_result *r)
{
	free(r->detail);
	free(r->image);
	free(r->config);
	free(r->log);
	free(r->objects);
	free(r->deps);
	for (size_t i = 0; i < r->n_warnings; i++)
		free(r->warnings[i]);
	free(r->warnings);
	*r = (struct build_result){ 0 };
}

const char *build_end_name(enum build_end end)
{
	static const char *const names[] = {
		[BUILD_OK] = "ok",	 [BUILD_FAILED] = "failed",	[BUILD_TIMEOUT] = "timeout",
		[BUILD_FLOOD] = "flood", [BUILD_NO_IMAGE] = "no-image", [BUILD_KCONFIG] = "kconfig"
	};

	return names[end];
}

int build_compiler(char **ret, struct err *e)
{
	static const char *const argv[] = { "gcc", "--version", NULL };
	static const char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	struct child_run_opts opts = { .spawn = CHILD_OPTS_INIT, .total_s = 30 };
	struct child_result res;
	char end[64];
	int r;

	opts.spawn.argv = argv;
	opts.spawn.env = env;
	r = child_run(&opts, &res, e);
	if (r < 0)
		return r;
	if (res.end != CHILD_EXITED || res.status != 0)
		r = err_set(e, ERR_CHILD, "gcc --version: %s", child_end_text(&res, end));
	else
		*ret = output_line(res.out, strcspn(res.out, "\n"));
	child_result_done(&res);
	return r;
}
