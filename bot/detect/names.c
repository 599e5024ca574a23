/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bot/detect/verdict.h"

#include "bot/base/cleanup.h"

#include <stdio.h>
#include <string.h>

static const char *const verdict_names[DETECT_VERDICTS] = {
	[DETECT_REGRESSION] = "regression",
	[DETECT_IMPROVEMENT] = "improvement",
	[DETECT_CHANGE] = "change",
	[DETECT_SAME] = "same",
	[DETECT_CANDIDATE] = "candidate",
	[DETECT_INCONCLUSIVE] = "inconclusive",
	[DETECT_NOT_ENOUGH_DATA] = "not-enough-data",
};

static const char *const better_names[] = {
	[DETECT_BETTER_NONE] = "none",
	[DETECT_BETTER_HIGHER] = "higher",
	[DETECT_BETTER_LOWER] = "lower",
};

const char *detect_verdict_name(enum detect_verdict v)
{
	return (unsigned)v < DETECT_VERDICTS ? verdict_names[v] : "unknown";
}

const char *detect_better_name(enum detect_better better)
{
	return (unsigned)better < ARRAY_SIZE(better_names) ? better_names[better] : "none";
}

int detect_better_parse(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(better_names); i++) {
		if (strcmp(name, better_names[i]) == 0)
			return (int)i;
	}
	return -1;
}

static const char *note_plain(enum detect_note note)
{
	switch (note) {
	case DETECT_NOTE_NO_HISTORY:
		return "no history: noise known from these runs alone";
	case DETECT_NOTE_ONE_BOOT:
		return "one boot a side: its runs share the boot's luck and cannot stand for others";
	case DETECT_NOTE_ABSOLUTE:
		return "a value is not above zero: tested on absolute values";
	case DETECT_NOTE_DETERMINISTIC:
		return "all runs of a side are equal: compared exactly, no p-value";
	case DETECT_NOTE_CLIPPED:
		return "an outlier among three units: waits for the next look";
	case DETECT_NOTE_LAST_LOOK:
		return "crossed, but no look is left to confirm it with fresh units";
	case DETECT_NOTE_BLOCKS:
		return "all runs of one side came before the other's: drift would look the same";
	case DETECT_NOTE_OTHER_SCALE:
		return "history is not on the same scale and was left out";
	case DETECT_NOTE_BLIND:
		return "noise hides changes of the size looked for";
	case DETECT_NOTE_END:
		return "run budget spent without a sure answer";
	default:
		return "";
	}
}

/* The highest first; one alone is one of the two that history has. */
static void say_modes(const char *side, const struct detect_side *s, char *buf, size_t size)
{
	static const char *const counts[] = { "one of two modes", "two modes", "three modes" };
	size_t len;
	int n = s->nmodes;

	if (n < 1 || n > DETECT_MODES_MAX) {
		(void)snprintf(buf, size, "no modes in %s", side);
		return;
	}
	(void)snprintf(buf, size, "%s in %s:", counts[n - 1], side);
	while (n-- > 0) {
		len = strlen(buf);
		(void)snprintf(buf + len, size - len, " %.2f at %.4g%s", s->modes[n].share,
			       s->modes[n].center, n ? "," : "");
	}
}

const char *detect_note_text(const struct detect_result *r, enum detect_note note, char *buf,
			     size_t size)
{
	switch (note) {
	case DETECT_NOTE_DROPPED:
		(void)snprintf(buf, size, "left out as not finite: %d in base, %d in head",
			       r->base.dropped, r->head.dropped);
		break;
	case DETECT_NOTE_FRESH_AGAINST:
		(void)snprintf(buf, size, "units after look %d went the other way: %+.2f%%",
			       r->candidate_look, 100 * r->fresh_rel);
		break;
	case DETECT_NOTE_SMALL:
		(void)snprintf(buf, size, "significant but smaller than the least effect: %+.3f%%",
			       100 * r->rel);
		break;
	case DETECT_NOTE_MISSING:
		(void)snprintf(buf, size, "no value in %s",
			       r->base.runs   ? "head"
			       : r->head.runs ? "base"
					      : "either side");
		break;
	case DETECT_NOTE_FEW:
		(void)snprintf(
			buf, size,
			"too few boots: %d in base, %d in head%s; runs of one boot count as one",
			r->base.units, r->head.units,
			r->notes & DETECT_NOTE_NO_HISTORY ? ", and no history" : "");
		break;
	case DETECT_NOTE_MODES_BASE:
		say_modes("base", &r->base, buf, size);
		break;
	case DETECT_NOTE_MODES_HEAD:
		say_modes("head", &r->head, buf, size);
		break;
	default:
		(void)snprintf(buf, size, "%s", note_plain(note));
	}
	return buf;
}
