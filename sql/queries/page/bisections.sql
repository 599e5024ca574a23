-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisections, newest first. $1 state (NULL: all), $2 tree (NULL: any), $3 microseconds since the
-- epoch and $4 id of the row to go on after (NULL: from the start), $5 most rows.
-- Columns: json with items and, when there are more, next. One row.
WITH hit AS (
	SELECT b.*, row_number() OVER (ORDER BY b.created DESC, b.id DESC) AS n
	FROM bisection b
	WHERE ($1::text IS NULL OR b.state = $1)
		AND ($2::text IS NULL OR b.tree = $2)
		AND ($4::text IS NULL OR
			(b.created, b.id) < (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4))
	ORDER BY b.created DESC, b.id DESC
	LIMIT $5::bigint + 1)
SELECT json_strip_nulls(json_build_object(
	'items', COALESCE((SELECT json_agg(json_build_object(
		'id', h.id, 'state', h.state, 'tree', h.tree, 'good', h.good, 'bad', h.bad, 'job', j.name,
		'suite', j.suite, 'metric', h.metric, 'regression', h.regression, 'asked_by', h.asked_by,
		'steps', json_build_object('done', (SELECT count(*) FROM bisect_step s WHERE s.bisection = h.id)),
		'boots', h.status->'boots', 'effective_left', h.status->'effective_left',
		'state_text', (SELECT bisection_waits(b) FROM bisection b WHERE b.id = h.id), 'result', h.result,
		'created', h.created, 'started', h.started, 'finished', h.finished) ORDER BY h.n)
		FROM hit h JOIN job j ON j.id = h.job WHERE h.n <= $5::bigint), '[]'::json),
	'next', (SELECT (extract(epoch FROM h.created) * 1000000)::bigint || '_' || h.id
		FROM hit h WHERE h.n = $5::bigint AND EXISTS (SELECT FROM hit WHERE n > $5::bigint))))
