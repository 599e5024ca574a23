-- SPDX-License-Identifier: GPL-3.0-or-later
-- One tree: heads, events, comparisons. $1 name. Columns: json. No row: no such tree.
SELECT json_strip_nulls(json_build_object(
	'name', t.name, 'url', t.url, 'last_try', t.last_try, 'last_ok', t.last_ok,
	'failures', t.failures, 'last_error', t.last_error,
	'heads', COALESCE((SELECT json_agg(json_build_object('branch', h.branch, 'commit', h.commit,
		'title', c.subject, 'author', c.author_name, 'since', h.since) ORDER BY h.branch)
		FROM head h LEFT JOIN commit c ON c.hash = h.commit WHERE h.tree = t.name), '[]'::json),
	'events', COALESCE((SELECT json_agg(json_build_object('branch', v.branch, 'kind', v.kind,
		'old', v.old, 'new', v.new, 'title', c.subject, 'at', v.at) ORDER BY v.id DESC)
		FROM (SELECT * FROM head_event WHERE tree = $1 ORDER BY id DESC LIMIT 50) v
		LEFT JOIN commit c ON c.hash = v.new), '[]'::json),
	'series', COALESCE((SELECT json_agg(json_build_object('id', s.id, 'tree', s.tree, 'branch', s.branch, 'job', j.name,
		'machine', s.machine, 'metric', s.metric, 'changes', (SELECT count(*) FROM change_point p WHERE p.series = s.id),
		'newest', CASE WHEN s.change IS NOT NULL THEN (SELECT json_build_object('first', p.first, 'last', p.last, 'rel', p.rel,
			'p', p.p, 'state', p.state, 'comparison', p.comparison, 'seen', p.seen)
			FROM change_point p WHERE p.id = s.change) END) ORDER BY s.seen DESC NULLS LAST, s.id)
		FROM (SELECT s.*, p.id AS change, p.seen FROM series s LEFT JOIN LATERAL (SELECT id, seen FROM change_point p
				WHERE p.series = s.id ORDER BY p.seen DESC, p.id DESC LIMIT 1) p ON true
			WHERE s.tree = $1 ORDER BY p.seen DESC NULLS LAST, s.id LIMIT 50) s
		JOIN job j ON j.id = s.job), '[]'::json),
	'comparisons', COALESCE((SELECT json_agg(json_build_object('id', k.id, 'branch', k.branch, 'purpose', k.purpose,
		'base', k.base, 'head', k.head, 'title', c.subject, 'job', j.name, 'state', k.state,
		'verdict', k.verdict, 'look', k.look, 'plan', k.plan, 'rel', k.rel, 'lo', k.lo, 'hi', k.hi, 'detail', k.detail,
		'regression', (SELECT min(r.id) FROM regression r WHERE r.comparison = k.id),
		'created', k.created, 'finished', k.finished) ORDER BY k.id DESC)
		FROM (SELECT * FROM comparison WHERE tree = $1 ORDER BY id DESC LIMIT 50) k
		JOIN job j ON j.id = k.job LEFT JOIN commit c ON c.hash = k.head), '[]'::json)))
FROM tree t WHERE t.name = $1
