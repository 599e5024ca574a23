-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparisons and bisections whose machine has been drained for $1 seconds go to another good machine of its group, where there
-- is one, and begin again there: base and head are never of two machines.
WITH gone AS (
	SELECT name FROM machine m WHERE health IN ('quarantined', 'maintenance', 'retired')
		AND drained_at < now() - $1::float8 * interval '1 s'
		AND EXISTS (SELECT FROM machine o WHERE o.group_name = m.group_name AND o.health = 'good')
), c AS (
	UPDATE comparison SET machine = NULL, look = 0 FROM gone
	WHERE comparison.machine = gone.name AND comparison.state = 'open' RETURNING comparison.id, gone.name
), s AS (
	UPDATE bisection SET machine = NULL FROM gone
	WHERE bisection.machine = gone.name AND bisection.finished IS NULL RETURNING bisection.id, gone.name
), excluded AS (
	UPDATE boot SET excluded = true FROM c
	WHERE boot.comparison = c.id AND boot.state IN ('done', 'failed') AND boot.machine = c.name AND NOT boot.excluded
)
INSERT INTO work (kind, dedupe, payload)
SELECT 'detect', 'detect:' || id, jsonb_build_object('comparison', id) FROM c
UNION ALL
SELECT 'bisect', 'bisect:' || id, jsonb_build_object('bisection', id) FROM s
ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
