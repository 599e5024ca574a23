-- SPDX-License-Identifier: GPL-3.0-or-later
-- Want the control build on machine $1, in $2 seconds, with priority $3, because of $5 (failure, check, asked); that of kernel
-- configuration $4 if there is one, else the group's oldest. One row: the boot. No row: the group has no control build yet, or one
-- is wanted already.
WITH c AS (
	SELECT c.*, j.runs_per_boot FROM machine m JOIN control c USING (group_name) JOIN job j ON j.id = c.job
	WHERE m.name = $1 AND NOT EXISTS (SELECT FROM work WHERE dedupe = 'control:' || $1 AND state IN ('ready', 'leased'))
	ORDER BY c.kconfig = $4 DESC, c.since LIMIT 1
), n AS MATERIALIZED (
	SELECT nextval(pg_get_serial_sequence('boot', 'id')) AS id FROM c
), w AS (
	INSERT INTO work (kind, prio, run_at, dedupe, payload)
	SELECT 'boot', $3::bigint, now() + $2::float8 * interval '1 s', 'control:' || $1,
		jsonb_build_object('boot', n.id, 'group', c.group_name, 'machine', $1::text, 'reason', $5::text)
	FROM n, c
	-- Someone else may be ordering it right now.
	ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO NOTHING RETURNING id
), b AS (
	INSERT INTO boot (id, commit, build, job, wanted_runs, purpose, only_machine) OVERRIDING SYSTEM VALUE
	SELECT n.id, commit, build, job, runs_per_boot, 'control', $1 FROM w, n, c RETURNING id
)
SELECT id FROM b
