-- SPDX-License-Identifier: GPL-3.0-or-later
-- Series of tree $1 (NULL: any), the one with the newest change first, at most $2. Columns: json. One row.
SELECT json_strip_nulls(json_build_object('items', COALESCE((SELECT json_agg(json_build_object(
	'id', x.id, 'tree', x.tree, 'branch', x.branch, 'job', x.job_name, 'machine', x.machine, 'metric', x.metric,
	'changes', x.changes, 'newest', x.newest, 'created', x.created) ORDER BY x.seen DESC NULLS LAST, x.id)
	FROM (SELECT s.*, j.name AS job_name,
			(SELECT count(*) FROM change_point p WHERE p.series = s.id) AS changes, p.seen,
			CASE WHEN p.id IS NOT NULL THEN json_build_object('first', p.first, 'last', p.last, 'rel', p.rel, 'p', p.p,
				'state', p.state, 'comparison', p.comparison, 'seen', p.seen) END AS newest
		FROM series s JOIN job j ON j.id = s.job
			LEFT JOIN LATERAL (SELECT * FROM change_point p WHERE p.series = s.id ORDER BY p.seen DESC, p.id DESC LIMIT 1) p ON true
		WHERE $1::text IS NULL OR s.tree = $1
		ORDER BY p.seen DESC NULLS LAST, s.id LIMIT $2::bigint) x), '[]'::json)))
