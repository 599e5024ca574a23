-- SPDX-License-Identifier: GPL-3.0-or-later
-- The bisection $1 that has ended once more, as $2, asked by $3. A regression without a culprit goes with it, a deadline does not.
-- Columns: id. No row: it has not ended, or an equal one is open; or it was cancelled a moment ago, and role bisect has not given its
-- regression back: that would be searched for by neither.
WITH old AS (
	SELECT * FROM bisection b WHERE id = $1 AND finished IS NOT NULL AND NOT (state = 'cancelled'
		AND EXISTS (SELECT FROM regression r WHERE r.id = b.regression AND r.state = 'bisecting'))
), freed AS (
	UPDATE bisection SET regression = NULL FROM old WHERE bisection.id = old.id AND old.regression IS NOT NULL
		AND EXISTS (SELECT FROM regression r WHERE r.id = old.regression AND r.culprit IS NULL AND r.state = 'confirmed')
	RETURNING bisection.id
)
INSERT INTO bisection (id, tree, good, bad, job, metric, dedupe, request, asked_by, machine)
SELECT $2, tree, good, bad, job, metric, dedupe, (request - '{deadline,deadline_s}'::text[]) || jsonb_build_object('again', id)
	|| CASE WHEN EXISTS (SELECT FROM freed) THEN jsonb_build_object('regression', regression) ELSE '{}' END, $3, request->>'machine'
FROM old
ON CONFLICT (dedupe) WHERE state IN ('queued', 'checking-ends', 'running', 'verifying') DO NOTHING
RETURNING id
