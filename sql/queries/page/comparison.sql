-- SPDX-License-Identifier: GPL-3.0-or-later
-- One comparison: why, plan, boots, verdict and what it rests on. $1 id. Columns: json. No row: no such id.
SELECT json_strip_nulls(json_build_object(
	'id', k.id, 'tree', k.tree, 'branch', k.branch, 'state', k.state, 'purpose', k.purpose,
	'variant', nullif(k.variant, ''), 'target', k.target, 'machine', k.machine, 'group', j.group_name, 'job', j.name,
	'suite', j.suite, 'params', jsonb_build_object('test', j.test) || j.params, 'runs_per_boot', j.runs_per_boot,
	'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better,
		'kind', m.kind, 'about', m.about) FROM metric m WHERE m.name = j.metric),
		json_build_object('name', j.metric)),
	'base', json_build_object('commit', k.base, 'title', cb.subject),
	'head', json_build_object('commit', k.head, 'title', ch.subject),
	'look', k.look, 'plan', k.plan, 'verdict', k.verdict, 'detail', k.detail,
	'effect', CASE WHEN k.rel IS NOT NULL THEN json_build_object('rel', k.rel, 'lo', k.lo, 'hi', k.hi, 'p', k.p) END,
	'boots', (SELECT json_build_object(
		'base', json_build_object('done', count(*) FILTER (WHERE b.state = 'done' AND NOT b.excluded AND b.commit = k.base),
			'wanted', count(*) FILTER (WHERE b.state = 'wanted' AND b.commit = k.base),
			'failed', count(*) FILTER (WHERE b.state = 'failed' AND b.commit = k.base)),
		'head', json_build_object('done', count(*) FILTER (WHERE b.state = 'done' AND NOT b.excluded AND b.commit = k.head),
			'wanted', count(*) FILTER (WHERE b.state = 'wanted' AND b.commit = k.head),
			'failed', count(*) FILTER (WHERE b.state = 'failed' AND b.commit = k.head)))
		FROM boot b WHERE b.comparison = k.id),
	'asked_by', k.regression,
	'regressions', (SELECT json_agg(r.id ORDER BY r.created, r.id) FROM regression r WHERE r.comparison = k.id),
	'changes', (SELECT json_agg(json_build_object('series', p.series, 'first', p.first, 'last', p.last, 'rel', p.rel,
		'p', p.p, 'state', p.state) ORDER BY p.id) FROM change_point p WHERE p.comparison = k.id),
	'findings', CASE jsonb_typeof(k.evidence->'findings') WHEN 'array' THEN k.evidence->'findings' END,
	'summary', CASE jsonb_typeof(k.evidence->'summary') WHEN 'object' THEN k.evidence->'summary' END,
	'work', k.evidence->'work',
	'metrics', CASE jsonb_typeof(k.evidence->'metrics') WHEN 'array' THEN k.evidence->'metrics' END,
	'created', k.created, 'finished', k.finished))
FROM comparison k JOIN job j ON j.id = k.job
	LEFT JOIN commit cb ON cb.hash = k.base LEFT JOIN commit ch ON ch.hash = k.head
WHERE k.id = $1::bigint
