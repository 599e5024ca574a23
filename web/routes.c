/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/file.h"
#include "bot/base/parse.h"
#include "web/request.h"

#include <string.h>

#define BOTH (FORM_HTML | FORM_JSON)
#define ALL  (FORM_HTML | FORM_JSON | FORM_CSV)

static const struct route routes[] = {
	{ "GET", "/", "", .forms = BOTH, .load = load_overview, .render = render_overview },
	{ "GET", "/regressions", ",state,tree,class,suite,limit,after,", .forms = BOTH,
	  .load = load_regressions, .render = render_regressions },
	{ "GET", "/r/:r", "", .forms = ALL, .load = load_regression, .render = render_regression,
	  .table = table_regression },
	{ "GET", "/bisects", ",state,tree,limit,after,", .forms = BOTH, .load = load_bisects,
	  .render = render_bisects },
	{ "POST", "/bisects", ",dry_run,", .scope = "bisect", .serve = serve_bisect_post },
	{ "POST", "/bisects/:b/cancel", "", .scope = "bisect|bisect-admin",
	  .serve = serve_bisect_cancel },
	{ "POST", "/bisects/:b/extend", "", .scope = "bisect|bisect-admin",
	  .serve = serve_bisect_extend },
	{ "POST", "/bisects/:b/retry", "", .scope = "bisect|bisect-admin",
	  .serve = serve_bisect_retry },
	{ "GET", "/bisects/:b", "", .forms = BOTH, .load = load_bisect, .render = render_bisect },
	{ "GET", "/b/:b", "", .forms = BOTH, .load = load_bisect, .render = render_bisect },
	{ "GET", "/b/:b/log.txt", "", .serve = serve_bisect_log },
	{ "GET", "/queue", ",limit,", .forms = BOTH, .load = load_queue, .render = render_queue },
	{ "GET", "/trees/:s", "", .forms = BOTH, .load = load_tree, .render = render_tree },
	{ "GET", "/comparisons/:n", "", .forms = ALL, .load = load_comparison,
	  .render = render_comparison, .table = table_comparison },
	{ "GET", "/series", ",tree,limit,", .forms = BOTH, .load = load_series_list,
	  .render = render_series_list },
	{ "GET", "/series/:s", ",from,to,", .forms = ALL, .load = load_series,
	  .render = render_series, .table = table_series },
	{ "GET", "/machines", "", .forms = BOTH, .load = load_machines, .render = render_machines },
	{ "GET", "/machines/:s", "", .forms = BOTH, .load = load_machine,
	  .render = render_machine },
	{ "GET", "/commit/:h", "", .forms = BOTH, .load = load_commit, .render = render_commit },
	{ "GET", "/builds/:n/log.txt", "", .serve = serve_build_log },
	{ "GET", "/builds/:n/config.txt", "", .serve = serve_build_config },
	{ "GET", "/boots/:n/console.txt", "", .serve = serve_boot_console },
	{ "GET", "/runs/:n/raw.txt", "", .serve = serve_run_raw },
	{ "GET", "/about", "", .forms = BOTH, .load = load_about, .render = render_about },
	{ "GET", "/stop", "", .forms = BOTH, .load = load_about, .render = render_stop },
	/* Where the types of problem objects point. */
	{ "GET", "/help/api", "", .forms = BOTH, .load = load_about, .render = render_about },
	/* For machines that boot over the network. */
	{ "GET", "/netboot/boot.ipxe", ",mac,failed,", .serve = serve_netboot_script,
	  .plain = true },
	{ "GET", "/netboot/:x/kernel", "", .serve = serve_netboot_kernel },
	{ "GET", "/netboot/:x/initrd", "", .serve = serve_netboot_initrd },
	{ "POST", "/netboot/:x/stream", ",at,from,", .serve = serve_netboot_stream },
	{ "GET", "/style.css", "", .serve = serve_style, .plain = true },
	{ "GET", "/healthz", "", .serve = serve_healthz, .plain = true },
	{ "GET", "/readyz", "", .serve = serve_readyz, .plain = true },
};

/* Is the segment @s what the pattern letter asks for? */
static bool segment_fits(char letter, const char *s)
{
	int64_t n;
	size_t len = strlen(s);

	switch (letter) {
	case 'n':
		return s[0] != '+' && parse_i64(s, 1, INT64_MAX, &n, NULL) == 0;
	case 'h':
		return len >= 8 && len <= 40 && strspn(s, "0123456789abcdef") == len;
	case 'x':
		return len == 32 && strspn(s, "0123456789abcdef") == len;
	case 's':
		return len > 0 && len <= 64;
	default:
		return id_valid(letter, s);
	}
}

/* On success the segment at ':' is cut out of the path and becomes @ret_arg. */
static bool fits(const char *pattern, char *path, const char **ret_arg)
{
	const char *colon = strchr(pattern, ':');
	size_t n = colon ? (size_t)(colon - pattern) : 0;
	size_t arg_len;
	char *end;

	if (!colon)
		return !strcmp(pattern, path);
	if (strncmp(pattern, path, n) != 0)
		return false;
	arg_len = strcspn(path + n, "/");
	end = path + n + arg_len;
	if (strcmp(end, colon + 2) != 0)
		return false;
	if (*end) {
		char keep = *end;

		*end = '\0';
		if (segment_fits(colon[1], path + n)) {
			*ret_arg = path + n;
			return true;
		}
		*end = keep;
		return false;
	}
	*ret_arg = path + n;
	return segment_fits(colon[1], path + n);
}

int routes_find(struct request *q, struct err *e)
{
	const char *method = !strcmp(q->method, "HEAD") ? "GET" : q->method;
	_cleanup_(freep) char *path = NULL;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		const struct route *r = &routes[i];

		/* Calls that write are there below /api/v1 only, plain files have no .json form. */
		if ((q->url.suffix && !r->forms) || (q->url.csv && !(r->forms & FORM_CSV)) ||
		    (r->scope && !q->url.api))
			continue;
		free(path);
		path = xstrdup(q->url.path);
		q->arg = NULL;
		if (!fits(r->pattern, path, &q->arg))
			continue;
		any = true;
		if (!strcmp(r->method, method)) {
			q->arg = q->arg ? q->url.path + (q->arg - path) : NULL;
			if (q->arg)
				q->url.path[q->arg - q->url.path + strcspn(q->arg, "/")] = '\0';
			q->route = r;
			return 0;
		}
		(void)strcat(q->answer.allow, /* NOLINT: two methods at most */
			     q->answer.allow[0] ? ", " : "");
		(void)strcat(q->answer.allow, /* NOLINT */
			     !strcmp(r->method, "GET") ? "GET, HEAD" : r->method);
	}
	if (any)
		return err_set(e, ERR_UNSUPPORTED, "%s is not possible here; %s is", q->method,
			       q->answer.allow);
	return err_set(e, ERR_NOENT, "there is no page '%s'", q->url.path);
}
