/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/base/config.h"
#include "web/parts.h"
#include "web/request.h"

#include <string.h>

int load_about(struct request *q, json_t **ret, struct err *e)
{
	(void)e;
	*ret = json_object();
	json_set_str(*ret, "name", "kperfbot");
	json_set_str(*ret, "version", KPERFBOT_VERSION);
	json_set_str(*ret, "url", config_str(q->o->config, "kperfbot", NULL, "url"));
	json_set_str(*ret, "operator", config_str(q->o->config, "mail", NULL, "operator"));
	return 0;
}

static void para(struct html *h, const char *text)
{
	html_el(h, "p", NULL, text);
}

void render_about(struct request *q, struct html *h, const json_t *j)
{
	page_begin(q, h, "About", "/about");
	html_el(h, "h1", NULL, "About");
	para(h,
	     "kperfbot watches kernel git trees, builds and boots their commits on lab machines, runs "
	     "benchmarks, and tells with statistics whether a commit changed performance. It "
	     "bisects a change for the worse by itself and mails a report that can be checked, "
	     "reproduced and answered.");
	part_h2(h, "numbers", "How to read the numbers");
	para(h,
	     "A change is the difference of the head from the base as a share of the base; the interval "
	     "beside it is what the runs allow. Both sides are measured interleaved on the same "
	     "machine, each on several boots, and a change is confirmed by fresh runs before "
	     "anything is said about it. P is the probability that a commit is the first bad one, "
	     "given all measurements of its bisection. A metric that was not measured has no value; "
	     "it is never zero.");
	para(h,
	     "Boots are made in blocks, and after each block somebody looks: a comparison ends at the "
	     "first look that is sure, and the error rates hold under this looking. A series is what "
	     "one machine measured of a job along a branch. A change point that only a series shows "
	     "is a suspicion until both levels were measured again, in turns; one that the control "
	     "build made as well is drift of the machine. Two modes are said to be so, since no run "
	     "is near their mean.");
	part_h2(h, "interface", "For programs");
	html_open(h, "p");
	html_text(h, "Each page has a JSON form: put ");
	html_el(h, "code", NULL, ".json");
	html_text(h, " behind its address, or ");
	html_el(h, "code", NULL, "/api/v1");
	html_text(h, " before it. Comparisons and series are tables, too: ");
	html_el(h, "code", NULL, ".csv");
	html_text(h, ". ");
	html_el(h, "code", NULL, "POST /api/v1/bisects");
	html_text(
		h,
		" with a bearer token asks for a bisection. Fractions are no percent, times are RFC "
		"3339 UTC, a key that is absent is unknown.");
	html_close(h);
	part_h2(h, "people", "People");
	html_open(h, "p");
	if (json_str(j, "operator", NULL)) {
		html_text(h, "This instance is run by ");
		html_text(h, json_str(j, "operator", ""));
		html_text(h, ".");
	} else {
		html_text(h, "The operator of this instance has not given an address.");
	}
	html_close(h);
	html_elf(h, "p", "dim", "kperfbot %s, free software under the GNU GPL, version 3 or later.",
		 json_str(j, "version", ""));
	page_end(q, h);
}

/* Where each mail points to. Answers are not read by a program, so people are named. */
void render_stop(struct request *q, struct html *h, const json_t *j)
{
	const char *operator= json_str(j, "operator", NULL);

	page_begin(q, h, "No more mail", "/stop");
	html_el(h, "h1", NULL, "No more mail");
	html_open(h, "p");
	html_text(
		h,
		"To get no more mail from this instance, write from the address that gets it to ");
	html_text(h, operator ? operator : "the operator of this instance");
	html_text(h, ". The operator puts it on the stop list, and no report goes there again.");
	html_close(h);
	page_end(q, h);
}
