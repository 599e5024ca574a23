-- SPDX-License-Identifier: GPL-3.0-or-later
-- The comparison of layouts of job $1, base $2, head $3 and build variant $4, the newest. Columns: state, verdict, rel, lo, hi, detail
-- (rel, lo, hi NaN until judged). No row: none was asked for.
SELECT state, coalesce(verdict, ''), coalesce(rel, 'NaN'), coalesce(lo, 'NaN'), coalesce(hi, 'NaN'), coalesce(detail, '')
FROM comparison WHERE purpose = 'layout' AND job = $1::bigint AND base = $2 AND head = $3 AND variant = $4
ORDER BY id DESC LIMIT 1
