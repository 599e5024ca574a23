-- SPDX-License-Identifier: GPL-3.0-or-later
-- The bisection of regression $1. Columns: id, good, bad, status, result (JSON or empty). No row: there is none.
SELECT id, good, bad, status, coalesce(result, '{}') FROM bisection WHERE regression = $1
