-- SPDX-License-Identifier: GPL-3.0-or-later
-- Values $3 (float8[]) of run $1 for the metrics with ids $2 (integer[]); in place of those that it had.
WITH l AS (
	INSERT INTO metric_layout (metrics, digest)
	VALUES ($2::integer[], sha256(convert_to($2::integer[]::text, 'UTF8')))
	ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest RETURNING id
)
INSERT INTO run_values (run, layout, v) SELECT $1::bigint, l.id, $3::float8[] FROM l
ON CONFLICT (run) DO UPDATE SET layout = excluded.layout, v = excluded.v
