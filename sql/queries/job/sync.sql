-- SPDX-License-Identifier: GPL-3.0-or-later
-- The row of a configured job; made when the definition is new, of which the time limit is no part. $1 name,
-- $2 hash of the definition, $3 suite, $4 test, $5 params (JSON), $6 metric, $7 group, $8 kconfig or '', $9 thp,
-- $10 runs per boot, $11 least effect, $12 timeout in seconds, $13 settings (JSON),
-- $14 aslr, $15 monitors (text[]), $16 seconds between samples. One row: id.
INSERT INTO job (name, def_hash, suite, test, params, metric, group_name, kconfig, thp, runs_per_boot, min_effect, timeout_s,
	settings, aslr, monitors, monitor_interval_s)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::bigint, $11::float8, $12::float8,
	$13::jsonb, $14::boolean, $15::text[], $16::float8)
ON CONFLICT (name, def_hash) DO UPDATE SET timeout_s = excluded.timeout_s
RETURNING id
