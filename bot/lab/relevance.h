/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Can a commit change what a test runs, judged by the files that it touches? Pure. */
#pragma once

#include <stddef.h>

/**
 * enum relevance - the answer; when in doubt it is UNKNOWN, never NO.
 * @RELEVANCE_YES: a file, or a symbol of the profile, that the test is known to run.
 * @RELEVANCE_UNKNOWN: nothing shows that it does, and nothing that it does not.
 * @RELEVANCE_NO: every file lies off the path of the test. If it got slower all the same, the code
 *	may only have moved: see bot/lab/layout.h.
 */
enum relevance {
	RELEVANCE_YES,
	RELEVANCE_UNKNOWN,
	RELEVANCE_NO
};

/** relevance_name() - "yes", "unknown", "no". */
const char *relevance_name(enum relevance r);

/**
 * struct relevance_input - what is known; all borrowed.
 * @suite, @test: as the job names them; @test may be NULL.
 * @arch: architecture of the machine as the kernel names its folder, "x86".
 * @paths: @n_paths files that the commit changes, relative to the top of the tree.
 * @symbols: @n_symbols functions that it changes; none: not known.
 * @profile: @n_profile functions that the test was seen in; none: there is no profile.
 */
struct relevance_input {
	const char *suite;
	const char *test;
	const char *arch;
	const char *const *paths;
	size_t n_paths;
	const char *const *symbols;
	size_t n_symbols;
	const char *const *profile;
	size_t n_profile;
};

/**
 * relevance_judge() - is the commit able to change the test?
 * @ret_why: index of the path that speaks against NO; @n_paths when none does. May be NULL.
 *
 * Of a file the first that fits decides: what this test runs (a table of suites and tests), what
 * every test runs or is built with (scheduler, entry code, top makefiles, broad headers …), what no
 * benchmark runs (documentation, other architectures, drivers, set-up code …), else, for a test in
 * the table, any other folder of a kernel tree is off its path. One that is in none of them is
 * UNKNOWN; so is a commit without files.
 */
enum relevance relevance_judge(const struct relevance_input *in, size_t *ret_why);

/**
 * enum path_kind - what a file of a kernel tree is, by its name alone.
 * @PATH_OTHER: source, or whatever else may be part of a kernel.
 * @PATH_TEXT: for people to read.
 * @PATH_TRIAL: tests and samples; some kernels have them built in.
 * @PATH_OTHER_ARCH: below arch/, and not of the architecture.
 */
enum path_kind {
	PATH_OTHER,
	PATH_TEXT,
	PATH_TRIAL,
	PATH_OTHER_ARCH
};

/** relevance_path_kind() - @arch as in struct relevance_input. */
enum path_kind relevance_path_kind(const char *path, const char *arch);
