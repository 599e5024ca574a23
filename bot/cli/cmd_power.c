/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kperfbot power: what a comparison could see with this noise, or what it would take. */
#include "bot/base/err.h"
#include "bot/base/json.h"
#include "bot/base/strbuf.h"
#include "bot/cli/cli.h"
#include "bot/cli/options.h"
#include "bot/detect/power.h"

/* What the command line gives; @given tells by enum power_value. */
struct request {
	struct power_design d;
	bool given[POWER_VALUES];
};

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
	struct power_design *d = &q->d;
	bool *g = q->given;
	const struct cli_option options[] = {
		CLI_RATIO("noise", &d->noise, .given = &g[POWER_NOISE]),
		CLI_RATIO("boot-noise", &d->boot_noise, .given = &g[POWER_BOOT_NOISE]),
		CLI_INT("runs", &d->runs, 1, POWER_RUNS_MAX, .given = &g[POWER_RUNS]),
		CLI_INT("boots", &d->boots, 1, POWER_RUNS_MAX, .given = &g[POWER_BOOTS]),
		CLI_RATIO("effect", &d->effect, .given = &g[POWER_EFFECT]),
		CLI_RATIO("level", &d->level, .given = &g[POWER_LEVEL]),
		CLI_RATIO("power", &d->power, .given = &g[POWER_POWER]),
	};
	int at = cli_options(cli, argc, argv, options, ARRAY_SIZE(options));

	if (at < 0)
		return EXIT_USAGE;
	if (at < argc)
		return cli_usage(cli, "'%s' is no option", argv[at]);
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
