-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1 was not sound: what it gave since its last good control boot does not count. $2 true: all of it; false: only
-- failures of the classes $3 (text[]) that no good boot has proven. Whoever wanted it looks again. Columns: boot.
WITH since AS (
	SELECT coalesce(max(finished), '-infinity') AS at FROM boot
	WHERE machine = $1 AND purpose = 'control' AND state = 'done' AND NOT excluded
), gone AS (
	UPDATE boot SET excluded = true FROM since
	WHERE machine = $1 AND NOT excluded AND finished > since.at AND ($2::boolean AND purpose <> 'control'
		OR state = 'failed' AND class = ANY ($3::text[]) AND control_boot IS NULL)
	RETURNING id, comparison, bisection
), wake AS (
	INSERT INTO work (kind, dedupe, payload)
	SELECT DISTINCT 'detect', 'detect:' || comparison, jsonb_build_object('comparison', comparison)
	FROM gone WHERE comparison IS NOT NULL
	UNION ALL
	SELECT DISTINCT 'bisect', 'bisect:' || bisection, jsonb_build_object('bisection', bisection)
	FROM gone WHERE bisection IS NOT NULL
	ON CONFLICT (dedupe) WHERE state IN ('ready', 'leased') DO UPDATE SET again = work.again OR work.state = 'leased'
)
SELECT id FROM gone
