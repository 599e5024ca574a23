-- SPDX-License-Identifier: GPL-3.0-or-later
-- A role lab looks after machine $1. Columns: whether it is good. A row: its control build has to be measured, since it is drained or
-- has unproven failures (classes $3, text[]), and no one wants that; what was to order it has died. A drained machine whose
-- group has no control build is good again after $2 seconds: the next boot tells.
WITH old AS (
	SELECT name, group_name, health, drained_at, lease_until FROM machine WHERE name = $1 FOR UPDATE
), todo AS (
	SELECT old.*, EXISTS (SELECT FROM control c WHERE c.group_name = old.group_name) AS control FROM old
	WHERE (lease_until IS NULL OR lease_until < now())
		AND NOT EXISTS (SELECT FROM work WHERE dedupe = 'control:' || $1 AND state IN ('ready', 'leased'))
		AND (health IN ('suspect', 'quarantined') OR health = 'good' AND EXISTS (SELECT FROM boot WHERE machine = $1
			AND state = 'failed' AND class = ANY ($3::text[]) AND control_boot IS NULL AND NOT excluded))
), again AS (
	SELECT name FROM todo
	WHERE NOT control AND health <> 'good' AND drained_at < now() - $2::float8 * interval '1 s'
), event AS (
	INSERT INTO machine_event (machine, kind, by, text)
	SELECT name, 'recovered', 'kperfbot', 'the group has no control build: tried again with the next boot' FROM again
), seen AS (
	UPDATE machine SET last_seen = now(), health = CASE WHEN a.name IS NULL THEN machine.health ELSE 'good' END,
		note = CASE WHEN a.name IS NULL THEN note END, drained_by = CASE WHEN a.name IS NULL THEN drained_by END,
		drained_at = CASE WHEN a.name IS NULL THEN machine.drained_at END,
		faults = CASE WHEN a.name IS NULL THEN faults ELSE 0 END, unproven = CASE WHEN a.name IS NULL THEN unproven ELSE 0 END
	FROM old o LEFT JOIN again a ON true WHERE machine.name = o.name
)
SELECT health = 'good' FROM todo WHERE control
