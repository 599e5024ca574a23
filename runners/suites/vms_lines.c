/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "runners/suites/vms_lines.h"

#include "bot/base/cleanup.h"

#include <math.h>
#include <string.h>

/* dd prints its rate with three digits. */
#define DD_ROUNDING 0.01

/* "B bytes / U usecs = K KB/s" with the given start behind us; K must be what B and U give. */
static bool read_statistics(struct scan *s, struct vms_value *ret)
{
	uint64_t bytes, usecs, rate;

	if (!(scan_u64(s, &bytes) && scan_lit(s, " bytes / ") && scan_u64(s, &usecs) &&
	      scan_lit(s, " usecs = ") && scan_u64(s, &rate) && scan_lit(s, " KB/s") &&
	      scan_end(s)))
		return false;
	/* The product would not fit in 64 bits above 17 TB: compare as floating-point numbers. */
	if (usecs == 0 || rate == 0 ||
	    fabs((double)bytes * 1e6 / 1024 / (double)usecs - (double)rate) >
		    1 + (double)rate * 1e-9)
		return false;
	*ret = (struct vms_value){ .kind = VMS_USEMEM,
				   .bytes = (double)bytes,
				   .rate = (double)rate };
	return true;
}

static bool read_usemem(struct scan s, struct vms_value *ret)
{
	while (scan_lit(&s, "."))
		;
	return read_statistics(&s, ret);
}

/* Rates of a part of the work, beside the line about all of it. */
static bool read_again(struct scan s, struct vms_value *ret)
{
	if (!(scan_lit(&s, "read again ") || scan_lit(&s, "first access ")) ||
	    !read_statistics(&s, ret))
		return false;
	ret->kind = VMS_OTHER;
	return true;
}

static bool read_free(struct scan s, struct vms_value *ret)
{
	uint64_t usecs;

	if (!(scan_u64(&s, &usecs) && scan_lit(&s, " usecs to free memory") && scan_end(&s)))
		return false;
	*ret = (struct vms_value){ .kind = VMS_FREE, .seconds = (double)usecs / 1e6 };
	return true;
}

/* "case NAME took U usecs": the last line of a case that gives no rate. */
static bool read_time(struct scan s, struct vms_value *ret)
{
	uint64_t usecs;

	if (!scan_lit(&s, "case "))
		return false;
	while (s.p < s.end && *s.p != ' ')
		s.p++;
	if (!(scan_lit(&s, " took ") && scan_u64(&s, &usecs) && scan_lit(&s, " usecs") &&
	      scan_end(&s)) ||
	    usecs == 0)
		return false;
	*ret = (struct vms_value){ .kind = VMS_TIME, .seconds = (double)usecs / 1e6 };
	return true;
}

static bool scan_dd_unit(struct scan *s, double *ret)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = { { " B/s", 1 },
		      { " kB/s", 1e3 },
		      { " MB/s", 1e6 },
		      { " GB/s", 1e9 },
		      { " TB/s", 1e12 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (scan_lit(s, units[i].name)) {
			*ret = units[i].factor;
			return true;
		}
	}
	return false;
}

/* "B bytes (168 MB, 160 MiB) copied, S s, R MB/s"; dd leaves the bracket out below 1000 bytes. */
static bool read_dd(struct scan s, struct vms_value *ret)
{
	double seconds, rate, factor;
	const char *close;
	uint64_t bytes;

	if (!(scan_u64(&s, &bytes) && scan_lit(&s, " bytes")))
		return false;
	if (scan_lit(&s, " (")) {
		close = memchr(s.p, ')', (size_t)(s.end - s.p));
		if (!close)
			return false;
		s.p = close + 1;
	}
	if (!(scan_lit(&s, " copied, ") && scan_f64(&s, &seconds) && scan_lit(&s, " s, ") &&
	      scan_f64(&s, &rate) && scan_dd_unit(&s, &factor) && scan_end(&s)))
		return false;
	rate *= factor;
	if (seconds <= 0 || bytes < 1024 ||
	    fabs((double)bytes / seconds - rate) > DD_ROUNDING * rate)
		return false;
	*ret = (struct vms_value){ .kind = VMS_RATE,
				   .bytes = (double)bytes,
				   .rate = (double)(bytes >> 10) / seconds };
	return true;
}

/*
 * "B bytes truncated in T1-T0 seconds". The times are seconds since 1970 with nine decimals; their
 * difference in floating point is what LKP works with too.
 */
static bool read_timed(struct scan s, const char *verb, enum vms_kind kind, struct vms_value *ret)
{
	double t0, t1;
	uint64_t bytes;

	if (!(scan_u64(&s, &bytes) && scan_lit(&s, verb) && scan_f64(&s, &t1) &&
	      scan_lit(&s, "-") && scan_f64(&s, &t0) && scan_lit(&s, " seconds") && scan_end(&s)))
		return false;
	if (t1 <= t0 || bytes < 1024)
		return false;
	*ret = (struct vms_value){ .kind = kind,
				   .bytes = (double)bytes,
				   .rate = (double)(bytes >> 10) / (t1 - t0) };
	return true;
}

/* Are @mbps the millions of bytes per second, rounded down? */
static bool agrees(double bytes, uint64_t usecs, uint64_t mbps)
{
	return usecs > 0 && fabs(bytes / (double)usecs - (double)mbps) <= 1;
}

static bool read_remap(struct scan s, struct vms_value *ret)
{
	uint64_t bytes, usecs, mbps, rate;

	if (!(scan_u64(&s, &bytes) && scan_lit(&s, " bytes remapped, ") && scan_u64(&s, &usecs) &&
	      scan_lit(&s, " usecs, ") && scan_u64(&s, &mbps) && scan_lit(&s, " MB/s") &&
	      scan_end(&s)))
		return false;
	if (usecs < 1024 || bytes < 1024 || !agrees((double)bytes, usecs, mbps))
		return false;
	/* LKP divides whole numbers here. */
	rate = bytes / (usecs >> 10);
	*ret = (struct vms_value){ .kind = VMS_RATE, .bytes = (double)bytes, .rate = (double)rate };
	return true;
}

static bool read_migrate(struct scan s, struct vms_value *ret)
{
	uint64_t count, bytes, usecs, mbps;

	if (!(scan_u64(&s, &count) && scan_lit(&s, " * ") && scan_u64(&s, &bytes) &&
	      scan_lit(&s, " bytes migrated, ") && scan_u64(&s, &usecs) &&
	      scan_lit(&s, " usecs, ") && scan_u64(&s, &mbps) && scan_lit(&s, " MB/s") &&
	      scan_end(&s)))
		return false;
	if (mbps == 0 || !agrees((double)count * (double)bytes, usecs, mbps))
		return false;
	*ret = (struct vms_value){ .kind = VMS_MIGRATED, .rate = (double)mbps };
	return true;
}

/* Lines that belong to good outputs and give no metric. */
static bool is_known(const struct line *l)
{
	return line_has(l, "the initialization time is ") || line_has(l, " records in") ||
	       line_has(l, " records out") || line_has(l, "is waiting signal") ||
	       line_starts(l, "exit status ");
}

/* Words of the lines above: a line that has one and could not be read is a damaged one. */
static bool looks_like_ours(const struct line *l)
{
	static const char *const words[] = { " bytes", "usecs",	  "KB/s",    "MB/s",
					     "copied", "seconds", "to free " };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (line_has(l, words[i]))
			return true;
	return false;
}

/* "./usemem: mmap failed: …". The shell's and dd's own complaints have the same form. */
static bool is_failure(const struct line *l)
{
	return line_starts(l, "./usemem: ") || line_starts(l, "usemem: ") ||
	       line_has(l, "/usemem: ") || line_has(l, "dd: ") ||
	       line_has(l, "Cannot allocate memory") || line_has(l, "Out of memory");
}

enum vms_line vms_line_read(const struct line *l, struct vms_value *ret, const char **ret_why)
{
	struct scan s = scan_line(l);

	if (line_is_kernel_log(l))
		return VMS_LINE_UNKNOWN;
	if (read_usemem(s, ret) || read_again(s, ret) || read_free(s, ret) || read_dd(s, ret) ||
	    read_time(s, ret) || read_timed(s, " bytes truncated in ", VMS_RATE, ret) ||
	    read_timed(s, " bytes faulted in ", VMS_FAULTED, ret) || read_remap(s, ret) ||
	    read_migrate(s, ret))
		return VMS_LINE_GOOD;
	if (is_failure(l))
		return VMS_LINE_FAILED;
	if (is_known(l)) {
		*ret = (struct vms_value){ .kind = VMS_OTHER };
		return VMS_LINE_GOOD;
	}
	/* A start of digits alone is what is left of a line that was cut. */
	if (looks_like_ours(l) || (!l->whole && l->len > 0)) {
		*ret_why = "a whole line of vm-scalability; metrics left out";
		return VMS_LINE_BAD;
	}
	return VMS_LINE_UNKNOWN;
}
