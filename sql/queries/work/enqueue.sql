-- SPDX-License-Identifier: GPL-3.0-or-later
-- Ask for work. $1 kind, $2 prio, $3 delay in seconds, $4 dedupe or NULL, $5 payload (JSON).
-- An open row of the same dedupe is joined: brought forward if ready, run once more if leased.
-- One row: id.
INSERT INTO work (kind, prio, run_at, dedupe, payload)
VALUES ($1, $2::bigint, now() + $3::float8 * interval '1 s', $4, $5::jsonb)
ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE
SET again = work.again OR work.state = 'leased', run_at = least(work.run_at, excluded.run_at),
	prio = greatest(work.prio, excluded.prio)
RETURNING id
