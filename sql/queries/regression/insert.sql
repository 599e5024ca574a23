-- SPDX-License-Identifier: GPL-3.0-or-later
-- A regression: $1 id, $2 tree, $3 branch, $4 job, $5 comparison or NULL, $6 metric, $7 rel, $8 lo, $9 hi, $10 level, $11 base, $12 head.
-- No row: this comparison has one for the metric. One row: id.
INSERT INTO regression (id, state, tree, branch, job, comparison, metric, rel, lo, hi, level, base, head)
VALUES ($1, 'bisecting', $2, $3, $4::bigint, $5::bigint, $6, $7::float8, $8::float8, $9::float8, $10::float8, $11, $12)
ON CONFLICT (comparison, metric) DO NOTHING RETURNING id
