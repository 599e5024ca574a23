-- SPDX-License-Identifier: GPL-3.0-or-later
-- Further machines for the open bisection $1: good ones of its group, so that it has $2 beside its first. Those that it has stay.
-- Columns: machines (JSON, of all beside the first).
WITH s AS (
	SELECT b.id, b.machine, b.machines, j.group_name FROM bisection b JOIN job j ON j.id = b.job
	WHERE b.id = $1 AND b.machine IS NOT NULL AND b.finished IS NULL
), more AS (
	SELECT m.name FROM s JOIN machine m ON m.group_name = s.group_name
	WHERE m.health = 'good' AND m.name <> s.machine AND m.name <> ALL (s.machines) AND m.last_seen > now() - interval '10 min'
	ORDER BY m.name LIMIT greatest($2::bigint - (SELECT cardinality(machines) FROM s), 0)
)
UPDATE bisection SET machines = s.machines || (SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM more)
FROM s WHERE bisection.id = s.id RETURNING array_to_json(bisection.machines)
