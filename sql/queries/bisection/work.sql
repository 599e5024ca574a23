-- SPDX-License-Identifier: GPL-3.0-or-later
-- Role bisect is to look at bisection $1, unless it is about to. No columns.
WITH added AS (
	INSERT INTO work (kind, prio, dedupe, payload)
	VALUES ('bisect', 5, 'bisect:' || $1, jsonb_build_object('bisection', $1::text))
	ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO NOTHING RETURNING id)
SELECT pg_notify('work', '') FROM added
