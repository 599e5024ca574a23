/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every test includes: cmocka's headers in the order it wants, and assert_ok(). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* needs the four above */

#include "bot/base/err.h"

/** assert_ok() - the call returned 0 or more; prints the reason in @e otherwise. */
#define assert_ok(call, e)                                                      \
	do {                                                                    \
		int ok_ = (call);                                               \
		if (ok_ < 0)                                                    \
			fail_msg("%s: %s: %s", #call, err_name(ok_), (e)->msg); \
	} while (0)

/** assert_err() - the call failed with @code and gave a reason in @e. */
#define assert_err(call, want, e)                                                            \
	do {                                                                                 \
		int got_ = (call);                                                           \
		if (got_ != (want))                                                          \
			fail_msg("%s: got %s (%s), not %s", #call, err_name(got_), (e)->msg, \
				 err_name(want));                                            \
		assert_true((e)->msg[0] != '\0');                                            \
	} while (0)

/** assert_near() - |a - b| <= rel * max(|a|, |b|) or both equal. */
#define assert_near(a, b, rel)                                                      \
	do {                                                                        \
		double a_ = (a), b_ = (b);                                          \
		double m_ = __builtin_fmax(__builtin_fabs(a_), __builtin_fabs(b_)); \
		if (!(a_ == b_ || __builtin_fabs(a_ - b_) <= m_ * (rel)))           \
			fail_msg("%s = %.17g, not %.17g (relative %g)", #a, a_, b_, \
				 __builtin_fabs(a_ - b_) / m_);                     \
	} while (0)
