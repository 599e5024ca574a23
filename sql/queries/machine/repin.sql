-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparisons and bisections whose machine has been drained for $1 seconds, was looked after by no role lab for $2, or belongs to
-- another group now, go to another good machine of their group, where there is one, and begin again there: base and head are
-- never of two machines. A bisection on several goes on without one that is away. What it measures right now is waited for.
WITH gone AS (
	SELECT name, group_name, health IN ('quarantined', 'maintenance', 'retired') AND drained_at < now() - $1::float8 * interval '1 s'
		OR last_seen < now() - $2::float8 * interval '1 s' AS away
	FROM machine WHERE lease_until IS NULL OR lease_until < now()
), stays AS (
	SELECT name, group_name FROM machine WHERE health = 'good' AND last_seen >= now() - $2::float8 * interval '1 s'
), c AS (
	UPDATE comparison SET machine = NULL, look = 0 FROM gone, job
	WHERE comparison.machine = gone.name AND comparison.state = 'open' AND job.id = comparison.job
		AND (gone.away OR gone.group_name <> job.group_name)
		AND EXISTS (SELECT FROM stays WHERE stays.group_name = job.group_name AND stays.name <> gone.name)
	RETURNING comparison.id, gone.name
), s AS (
	UPDATE bisection SET machine = NULL, machines = '{}' FROM gone, job
	-- One that a person chose is waited for.
	WHERE bisection.machine = gone.name AND bisection.finished IS NULL AND job.id = bisection.job
		AND bisection.request->>'machine' IS NULL
		AND (gone.away OR gone.group_name <> job.group_name)
		AND EXISTS (SELECT FROM stays WHERE stays.group_name = job.group_name AND stays.name <> gone.name)
	RETURNING bisection.id, gone.name
), fewer AS (
	UPDATE bisection SET machines = array_remove(machines, gone.name) FROM gone, job
	WHERE gone.name = ANY (bisection.machines) AND bisection.finished IS NULL AND job.id = bisection.job
		AND bisection.id NOT IN (SELECT id FROM s) AND (gone.away OR gone.group_name <> job.group_name)
	RETURNING bisection.id, gone.name
), anywhere AS (
	UPDATE boot SET pinned = NULL FROM (SELECT id, name FROM s UNION SELECT id, name FROM fewer) x
	WHERE boot.bisection = x.id AND boot.state = 'wanted' AND boot.pinned IS NOT NULL
), excluded AS (
	UPDATE boot SET excluded = true FROM c
	WHERE boot.comparison = c.id AND boot.state IN ('done', 'failed') AND boot.machine = c.name AND NOT boot.excluded
)
INSERT INTO work (kind, dedupe, payload)
SELECT 'detect', 'detect:' || id, jsonb_build_object('comparison', id) FROM c
UNION ALL
SELECT 'bisect', 'bisect:' || id, jsonb_build_object('bisection', id) FROM (SELECT id FROM s UNION SELECT id FROM fewer) x
ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
