-- SPDX-License-Identifier: GPL-3.0-or-later
-- Work for a bisection that was asked for. $1 its id. Columns: nothing useful. One row.
WITH added AS (
	INSERT INTO work (kind, prio, dedupe, payload)
	VALUES ('bisect', 5, 'bisect:' || $1, jsonb_build_object('bisection', $1::text))
	RETURNING id)
SELECT pg_notify('work', '') FROM added
