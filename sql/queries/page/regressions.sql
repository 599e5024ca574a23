-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regressions, newest first. $1 state (NULL: all but invalid, dup and layout), $2 tree, $3 class, $4 suite
-- (NULL: any), $5 microseconds since the epoch and $6 id of the row to go on after (NULL: from the
-- start), $7 most rows. Columns: json with items and, when there are more, next. One row.
WITH hit AS (
	SELECT r.*, j.name AS job_name, j.suite, j.test, j.params, j.group_name,
		row_number() OVER (ORDER BY r.created DESC, r.id DESC) AS n
	FROM regression r JOIN job j ON j.id = r.job
	WHERE (r.state = $1 OR ($1::text IS NULL AND r.state NOT IN ('invalid', 'dup', 'layout')))
		AND ($2::text IS NULL OR r.tree = $2)
		AND ($3::text IS NULL OR r.class = $3)
		AND ($4::text IS NULL OR j.suite = $4)
		AND ($6::text IS NULL OR
			(r.created, r.id) < (timestamptz 'epoch' + $5::bigint * interval '1 microsecond', $6))
	ORDER BY r.created DESC, r.id DESC
	LIMIT $7::bigint + 1)
SELECT json_strip_nulls(json_build_object(
	'items', COALESCE((SELECT json_agg(json_build_object(
		'id', h.id, 'state', h.state, 'class', h.class, 'direction', 'worse', 'tree', h.tree,
		'branch', h.branch, 'machine', h.group_name, 'job', h.job_name, 'suite', h.suite,
		'params', jsonb_build_object('test', h.test) || h.params,
		'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better,
			'kind', m.kind) FROM metric m WHERE m.name = h.metric), json_build_object('name', h.metric)),
		'effect', json_build_object('rel', h.rel, 'lo', h.lo, 'hi', h.hi, 'level', h.level),
		'base', h.base, 'head', h.head,
		'culprit', CASE WHEN h.culprit IS NOT NULL THEN json_build_object('commit', h.culprit,
			'title', c.subject, 'author', c.author_name, 'p', h.p) END,
		'bisect', (SELECT b.id FROM bisection b WHERE b.regression = h.id),
		'created', h.created, 'updated', h.updated) ORDER BY h.n)
		FROM hit h LEFT JOIN commit c ON c.hash = h.culprit WHERE h.n <= $7::bigint), '[]'::json),
	'next', (SELECT (extract(epoch FROM h.created) * 1000000)::bigint || '_' || h.id
		FROM hit h WHERE h.n = $7::bigint AND EXISTS (SELECT FROM hit WHERE n > $7::bigint))))
