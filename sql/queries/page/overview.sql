-- SPDX-License-Identifier: GPL-3.0-or-later
-- The state of everything in one JSON object; see page_overview(). No parameters, one row.
-- Columns: json.
SELECT json_strip_nulls(json_build_object(
	'trees', COALESCE((SELECT json_agg(json_build_object(
		'name', t.name, 'url', t.url, 'last_try', t.last_try, 'last_ok', t.last_ok,
		'failures', t.failures, 'last_error', t.last_error,
		'heads', COALESCE((SELECT json_agg(json_build_object(
			'branch', h.branch, 'commit', h.commit, 'title', c.subject, 'since', h.since,
			'tested', EXISTS (SELECT FROM boot b WHERE b.commit = h.commit AND b.state = 'done'
				AND b.class = 'ok')) ORDER BY h.branch)
			FROM head h LEFT JOIN commit c ON c.hash = h.commit WHERE h.tree = t.name), '[]'::json),
		'tested', (SELECT json_build_object('commit', b.commit, 'title', c.subject, 'at', b.finished)
			FROM comparison k JOIN boot b ON b.comparison = k.id AND b.commit = k.head
			JOIN commit c ON c.hash = b.commit
			WHERE k.tree = t.name AND b.state = 'done' AND b.class = 'ok'
			ORDER BY b.finished DESC LIMIT 1),
		'regressions', (SELECT json_build_object(
			'broad', count(*) FILTER (WHERE r.class = 'broad'),
			'micro', count(*) FILTER (WHERE r.class = 'micro'),
			'unknown', count(*) FILTER (WHERE r.class = 'unknown'))
			FROM regression r
			WHERE r.tree = t.name AND r.state NOT IN ('fixed', 'invalid', 'lab', 'dup', 'layout', 'expected')))
		ORDER BY t.name) FROM tree t), '[]'::json),
	'machines', COALESCE((SELECT json_agg(json_build_object(
		'name', m.name, 'group', m.group_name, 'driver', m.driver, 'health', m.health, 'note', m.note,
		'faults', m.faults, 'last_seen', m.last_seen,
		'busy', m.lease_until IS NOT NULL AND m.lease_until > now()) ORDER BY m.name) FROM machine m), '[]'::json),
	'work', (SELECT json_build_object(
		'ready', COALESCE(sum(n) FILTER (WHERE state = 'ready'), 0),
		'leased', COALESCE(sum(n) FILTER (WHERE state = 'leased'), 0),
		'failed', COALESCE(sum(n) FILTER (WHERE state = 'failed'), 0),
		'quarantined', COALESCE(sum(n) FILTER (WHERE state = 'quarantined'), 0),
		'kinds', COALESCE((SELECT json_object_agg(kind, states) FROM (
			SELECT kind, json_object_agg(state, n) AS states FROM (
				SELECT kind, state, count(*) AS n FROM work
				WHERE state IN ('ready', 'leased', 'quarantined') GROUP BY kind, state) a
			GROUP BY kind ORDER BY kind) k), '{}'::json))
		FROM (SELECT state, count(*) AS n FROM work GROUP BY state) s),
	'builds', (SELECT json_build_object(
		'ok', count(*) FILTER (WHERE state = 'ok'),
		'failed', count(*) FILTER (WHERE state = 'failed'),
		'wanted', count(*) FILTER (WHERE state = 'wanted')) FROM build),
	'boots', (SELECT json_build_object(
		'done', count(*) FILTER (WHERE state = 'done'),
		'failed', count(*) FILTER (WHERE state = 'failed'),
		'wanted', count(*) FILTER (WHERE state = 'wanted')) FROM boot),
	'runs', (SELECT count(*) FROM run),
	'comparisons', COALESCE((SELECT json_agg(json_build_object(
		'id', k.id, 'tree', k.tree, 'branch', k.branch, 'base', k.base, 'head', k.head, 'job', j.name,
		'state', k.state, 'purpose', k.purpose, 'look', k.look, 'plan', k.plan, 'verdict', k.verdict, 'rel', k.rel, 'lo', k.lo, 'hi', k.hi,
		'p', k.p, 'created', k.created,
		'boots', (SELECT json_build_object(
			'done', count(*) FILTER (WHERE b.state = 'done'),
			'wanted', count(*) FILTER (WHERE b.state = 'wanted'))
			FROM boot b WHERE b.comparison = k.id)) ORDER BY k.id DESC)
		FROM (SELECT * FROM comparison WHERE state = 'open' ORDER BY id DESC LIMIT 50) k
		JOIN job j ON j.id = k.job), '[]'::json),
	'bisections', COALESCE((SELECT json_agg(json_build_object(
		'id', b.id, 'state', b.state, 'tree', b.tree, 'good', b.good, 'bad', b.bad, 'job', j.name,
		'metric', b.metric, 'steps', json_build_object('done',
			(SELECT count(*) FROM bisect_step s WHERE s.bisection = b.id)), 'boots', b.status->'boots',
		'effective_left', b.status->'effective_left', 'state_text', (SELECT bisection_waits(x) FROM bisection x WHERE x.id = b.id), 'measuring', b.status->>'asked',
		'eta', CASE WHEN b.status->'eta' IS NOT NULL THEN json_build_object(
			'p50', to_char(to_timestamp((b.status->'eta'->>'at')::float8 + (b.status->'eta'->>'p50_s')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
			'p90', to_char(to_timestamp((b.status->'eta'->>'at')::float8 + (b.status->'eta'->>'p90_s')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) END, 'regression', b.regression, 'created', b.created)
		ORDER BY b.created DESC)
		FROM (SELECT * FROM bisection WHERE state IN ('queued', 'checking-ends', 'running', 'verifying')
			ORDER BY created DESC LIMIT 50) b
		JOIN job j ON j.id = b.job), '[]'::json),
	'regressions', COALESCE((SELECT json_agg(json_build_object(
		'id', r.id, 'state', r.state, 'class', r.class, 'tree', r.tree, 'branch', r.branch,
		'job', j.name, 'suite', j.suite, 'machine', j.group_name,
		'params', jsonb_build_object('test', j.test) || j.params,
		'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better,
			'kind', m.kind) FROM metric m WHERE m.name = r.metric), json_build_object('name', r.metric)),
		'effect', json_build_object('rel', r.rel, 'lo', r.lo, 'hi', r.hi, 'level', r.level),
		'base', r.base, 'head', r.head,
		'culprit', CASE WHEN r.culprit IS NOT NULL THEN json_build_object('commit', r.culprit,
			'title', c.subject, 'author', c.author_name, 'p', r.p) END,
		'bisect', (SELECT b.id FROM bisection b WHERE b.regression = r.id),
		'created', r.created, 'updated', r.updated) ORDER BY r.created DESC, r.id DESC)
		FROM (SELECT * FROM regression WHERE state NOT IN ('invalid', 'dup', 'layout')
			ORDER BY created DESC, id DESC LIMIT 20) r
		JOIN job j ON j.id = r.job LEFT JOIN commit c ON c.hash = r.culprit), '[]'::json),
	'mails', (SELECT json_build_object(
		'held', count(*) FILTER (WHERE state = 'held'),
		'queued', count(*) FILTER (WHERE state IN ('queued', 'deferred', 'sending')),
		'sent', count(*) FILTER (WHERE state = 'sent'),
		'dead', count(*) FILTER (WHERE state = 'dead'),
		'unsure', count(*) FILTER (WHERE state = 'unsure'),
		'last_sent', max(sent)) FROM outbox_rcpt)))
