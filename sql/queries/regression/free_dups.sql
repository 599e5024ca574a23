-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regression $1 says nothing about other tests: the oldest of its duplicates that another test or metric showed is confirmed again, and
-- the others of these are duplicates of that one. Columns: id. No row: there is none.
WITH other AS (
	SELECT d.id, row_number() OVER (ORDER BY d.created, d.id) AS n
	FROM regression a JOIN job aj ON aj.id = a.job JOIN regression d ON d.dup_of = a.id JOIN job dj ON dj.id = d.job
	WHERE a.id = $1 AND d.state = 'dup'
		AND (d.metric, dj.suite, dj.test, dj.params) IS DISTINCT FROM (a.metric, aj.suite, aj.test, aj.params)
), first AS (
	UPDATE regression r SET state = 'confirmed', dup_of = NULL, updated = now() FROM other o WHERE r.id = o.id AND o.n = 1
	RETURNING r.id
), rest AS (
	UPDATE regression r SET dup_of = f.id, updated = now() FROM other o, first f WHERE r.id = o.id AND o.n > 1
), told AS (
	INSERT INTO regression_history (regression, from_state, to_state, by, why)
	SELECT id, 'dup', 'confirmed', 'kperfbot', $1 || ' is an effect of code layout, which says nothing about this test' FROM first
)
SELECT id FROM first
