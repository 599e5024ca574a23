/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot power: what a comparison could see with this noise, or what it would take. */
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/parse.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/detect/power.h"

#include <getopt.h>
#include <string.h>

/* What the command line gives; @given tells by enum power_value. */
struct request {
	struct power_design d;
	bool given[POWER_VALUES];
};

static int take_option(struct request *q, const char *name, const char *value, struct err *e)
{
	struct power_design *d = &q->d;
	double *const ratios[POWER_VALUES] = {
		[POWER_NOISE] = &d->noise,   [POWER_BOOT_NOISE] = &d->boot_noise,
		[POWER_EFFECT] = &d->effect, [POWER_LEVEL] = &d->level,
		[POWER_POWER] = &d->power,
	};
	int v = 0, r;

	while (strcmp(name, power_value_name((enum power_value)v)) != 0)
		v++;
	if (ratios[v]) {
		r = parse_ratio(value, ratios[v], e);
	} else {
		int64_t n = 0;

		r = parse_i64(value, 1, POWER_RUNS_MAX, &n, e);
		*(v == POWER_RUNS ? &d->runs : &d->boots) = (int)n;
	}
	q->given[v] = true;
	return r < 0 ? err_wrap(e, "--%s", name) : 0;
}

/* Level and power have defaults and boots need not be told, so these are asked for last. */
static int find_missing(const struct request *q, enum power_value *ret, struct err *e)
{
	static const enum power_value needed[] = { POWER_NOISE, POWER_RUNS, POWER_EFFECT };
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	int missing = 0;

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (q->given[needed[i]])
			continue;
		strbuf_addf(&names, "%s--%s", missing++ ? " and " : "",
			    power_value_name(needed[i]));
		*ret = needed[i];
	}
	if (missing > 1)
		return err_set(e, ERR_INVAL, "%s are missing; give all of them but one",
			       strbuf_str(&names));
	if (missing)
		return 0;
	if (!q->given[POWER_POWER])
		*ret = POWER_POWER;
	else if (!q->given[POWER_LEVEL])
		*ret = POWER_LEVEL;
	else if (q->given[POWER_BOOT_NOISE] && !q->given[POWER_BOOTS])
		*ret = POWER_BOOTS;
	else if (q->given[POWER_BOOTS] && !q->given[POWER_BOOT_NOISE])
		*ret = POWER_BOOT_NOISE;
	else
		return err_set(e, ERR_INVAL,
			       "--noise, --runs, --effect, --level and --power are all given, so "
			       "none is left to find; leave out one");
	return 0;
}

static int parse_options(struct cli *cli, int argc, char **argv, struct request *q)
{
	static const struct option options[] = { { "noise", required_argument, NULL, 'o' },
						 { "boot-noise", required_argument, NULL, 'o' },
						 { "runs", required_argument, NULL, 'o' },
						 { "boots", required_argument, NULL, 'o' },
						 { "effect", required_argument, NULL, 'o' },
						 { "level", required_argument, NULL, 'o' },
						 { "power", required_argument, NULL, 'o' },
						 { "json", no_argument, NULL, 'g' },
						 { "quiet", no_argument, NULL, 'g' },
						 { "verbose", no_argument, NULL, 'g' },
						 { "color", required_argument, NULL, 'g' },
						 { 0 } };
	struct err e = { 0 };
	int c, at = 0;

	while ((c = getopt_long(argc, argv, "qv", options, &at)) != -1) { /* NOLINT */
		if (c == 'q' || c == 'v')
			(void)cli_global_option(cli, c == 'q' ? "quiet" : "verbose", NULL);
		else if (c == 'g')
			(void)cli_global_option(cli, options[at].name, optarg);
		else if (c != 'o')
			return cli_bad_option(cli, argv);
		else if (take_option(q, options[at].name, optarg, &e) < 0)
			return cli_usage(cli, "%s", e.msg);
	}
	if (optind < argc)
		return cli_usage(cli, "'%s' is no option", argv[optind]);
	return EXIT_DONE;
}

static void print_json(const struct power_design *d, enum power_value missing, const char *why)
{
	_cleanup_(json_decrefp) json_t *o = json_object();
	const char *name = power_value_name(missing);
	_cleanup_(freep) char *text = NULL;

	json_set_str(o, "format", "kperfbot-power/1");
	json_set_str(o, "missing", name);
	json_set_f64(o, "noise", d->noise);
	json_set_f64(o, "boot_noise", d->boot_noise);
	json_set_i64(o, "runs", d->runs);
	json_set_i64(o, "boots", d->boots ? d->boots : d->runs);
	json_set_f64(o, "effect", d->effect);
	json_set_f64(o, "level", d->level);
	json_set_f64(o, "power", d->power);
	if (why) {
		(void)json_object_del(o, missing == POWER_BOOT_NOISE ? "boot_noise" : name);
		if (missing == POWER_RUNS && !d->boots)
			(void)json_object_del(o, "boots");
		json_set_str(o, "why", why);
	} else {
		json_set_i64(o, "units", power_units(d));
		json_set_f64(o, "unit_sd", power_unit_sd(d));
		json_set_f64(o, "df", 2. * power_units(d) - 2);
		json_set_f64(o, "reached", power_reached(d));
	}
	text = json_text(o);
	(void)printf("%s\n", text);
}

static void print_text(const struct power_design *d, enum power_value missing)
{
	_cleanup_(strbuf_done) struct strbuf size = STRBUF_INIT;
	double effect = 100 * d->effect, power = 100 * d->power, level = 100 * d->level;

	strbuf_addf(&size, "%d runs", d->runs);
	if (d->boots)
		strbuf_addf(&size, " on %d boot%s", d->boots, d->boots == 1 ? "" : "s");
	strbuf_addstr(&size, " a side");
	switch (missing) {
	case POWER_EFFECT:
		(void)printf("with this noise, %s see %.2g %%", strbuf_str(&size), effect);
		break;
	case POWER_RUNS:
	case POWER_BOOTS:
		(void)printf("with this noise, it takes %s to see %.3g %%", strbuf_str(&size),
			     effect);
		break;
	case POWER_POWER:
		(void)printf("with this noise, %s see %.3g %% with probability %.3g %% (level %.6g "
			     "%%)\n",
			     strbuf_str(&size), effect, power, level);
		return;
	case POWER_LEVEL:
		(void)printf("with this noise, %s see %.3g %% at level %.6g %% (power %.4g %%)\n",
			     strbuf_str(&size), effect, level, power);
		return;
	default:
		(void)printf("%s see %.3g %% while the %s is at most %.3g %%", strbuf_str(&size),
			     effect, missing == POWER_NOISE ? "noise" : "boot noise",
			     100 * (missing == POWER_NOISE ? d->noise : d->boot_noise));
		break;
	}
	(void)printf(" (level %.6g %%, power %.4g %%)\n", level, power);
}

int cmd_power(struct cli *cli, int argc, char **argv)
{
	struct request q = { .d = power_design_default() };
	enum power_value missing = POWER_EFFECT;
	struct err e = { 0 };
	int r = parse_options(cli, argc, argv, &q);

	if (r != EXIT_DONE)
		return r;
	if (find_missing(&q, &missing, &e) < 0)
		return cli_usage(cli, "%s", e.msg);
	r = power_solve(&q.d, missing, &e);
	if (r < 0 && r != ERR_TOO_FEW)
		return cli_usage(cli, "%s", e.msg);
	if (cli->json)
		print_json(&q.d, missing, r < 0 ? e.msg : NULL);
	else if (r < 0)
		(void)printf("%s\n", e.msg);
	else
		print_text(&q.d, missing);
	if (q.given[POWER_BOOTS] ? q.d.boots < 3 : q.d.runs && q.d.runs < 3)
		cli_note(cli, "comparisons judge nothing below 3 units a side, 5 without history");
	return r < 0 ? EXIT_WORSE : EXIT_DONE;
}
