-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1 now asks for $2 boots a side; $3 evidence or NULL, $4 verdict or NULL, $5 rel, $6 lo, $7 hi, $8 p.
UPDATE comparison SET look = $2::bigint, evidence = coalesce($3::jsonb, evidence), verdict = coalesce($4, verdict),
	rel = $5::float8, lo = $6::float8, hi = $7::float8, p = $8::float8
WHERE id = $1::bigint AND state = 'open'
