-- SPDX-License-Identifier: GPL-3.0-or-later
-- What was measured for bisection $1 does not count: its machine moved meanwhile. No columns.
UPDATE boot SET excluded = true WHERE bisection = $1 AND state IN ('done', 'failed') AND NOT excluded
