-- SPDX-License-Identifier: GPL-3.0-or-later
-- A step of bisection $1, numbered after the last: $2 commit, $3 verdict, $4 p_bad, $5 rel, $6 boots, $7 runs, $8 effective commits left,
-- $9 reason, $10 detail, $11 seconds ($4, $5, $9, $10 may be NULL). Columns: n. One row.
INSERT INTO bisect_step (bisection, n, commit, verdict, p_bad, rel, boots, runs, left_eff, reason, detail, took_s)
SELECT $1, coalesce(max(n), 0) + 1, $2, $3, $4::float8, $5::float8, $6::bigint, $7::bigint, $8::float8, $9, $10, $11::float8
FROM bisect_step WHERE bisection = $1 RETURNING n
