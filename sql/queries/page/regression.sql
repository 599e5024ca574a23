-- SPDX-License-Identifier: GPL-3.0-or-later
-- One regression with its runs, metrics, mails and history. $1 id. Columns: json. No row: no such id.
WITH r AS (SELECT * FROM regression WHERE id = $1),
measured AS (
	SELECT b.commit, b.id AS boot, b.build, b.machine, b.excluded, ru.id AS run, ru.n, ru.at, rm.value,
		(r.comparison IS NULL OR b.bisection IS NULL) AS compared
	FROM r JOIN boot b ON b.job = r.job AND b.commit IN (r.base, r.head, r.parent, r.culprit)
	JOIN run ru ON ru.boot = b.id
	JOIN run_metric rm ON rm.run = ru.id AND rm.metric = r.metric
	LEFT JOIN comparison rc ON rc.id = r.comparison LEFT JOIN bisection rb ON rb.id = b.bisection
	-- Control boots, and what another machine measured, are nothing to compare with.
	WHERE b.state = 'done' AND b.purpose = 'measure' AND rm.value BETWEEN -1e150 AND 1e150 -- their squares are numbers, too
		AND b.machine IS NOT DISTINCT FROM coalesce(CASE WHEN b.bisection IS NULL THEN rc.machine ELSE rb.machine END, b.machine)
	ORDER BY ru.at, ru.id LIMIT 2000),
side AS (
	SELECT commit, json_build_object('mean', avg(value), 'sd', stddev_samp(value), 'n', count(*),
		'boots', count(DISTINCT boot), 'build', max(build)) AS stats
	FROM measured WHERE NOT excluded AND compared GROUP BY commit),
verified AS (
	SELECT commit, json_build_object('mean', avg(value), 'sd', stddev_samp(value), 'n', count(*),
		'boots', count(DISTINCT boot), 'build', max(build)) AS stats
	FROM measured WHERE NOT excluded AND NOT compared GROUP BY commit)
SELECT json_strip_nulls(json_build_object(
	'id', r.id, 'state', r.state, 'class', r.class, 'direction', 'worse', 'tree', r.tree,
	'branch', r.branch, 'machine', j.group_name, 'job', j.name, 'suite', j.suite,
	'params', jsonb_build_object('test', j.test) || j.params,
	'series', (SELECT min(s.id) FROM series s WHERE s.tree = r.tree AND s.branch = r.branch AND s.job = r.job
		AND s.metric = r.metric AND s.machine = coalesce(k.machine, s.machine)),
	'bisect', b.id, 'dup_of', r.dup_of,
	'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better,
		'kind', m.kind, 'about', m.about) FROM metric m WHERE m.name = r.metric),
		json_build_object('name', r.metric)),
	'effect', json_build_object('rel', r.rel, 'lo', r.lo, 'hi', r.hi, 'level', r.level,
		'base', (SELECT stats FROM side WHERE commit = r.base),
		'head', (SELECT stats FROM side WHERE commit = r.head)),
	'base', json_build_object('commit', r.base, 'title', cb.subject),
	'head', json_build_object('commit', r.head, 'title', ch.subject),
	'culprit', CASE WHEN r.culprit IS NOT NULL THEN json_build_object('commit', r.culprit,
		'title', cc.subject, 'author', cc.author_name, 'p', r.p,
		'stats', (SELECT stats FROM verified WHERE commit = r.culprit)) END,
	'parent', CASE WHEN r.parent IS NOT NULL THEN json_build_object('commit', r.parent,
		'title', cp.subject, 'stats', (SELECT stats FROM verified WHERE commit = r.parent)) END,
	-- What the comparison checked, then code layout; ok: what is left of the change is at least half of it, and surely not nothing.
	'checks', nullif(coalesce((SELECT f->'checks' FROM jsonb_array_elements(CASE jsonb_typeof(k.evidence->'findings')
			WHEN 'array' THEN k.evidence->'findings' ELSE '[]' END) f
		WHERE f->>'headline' = r.metric AND jsonb_typeof(f->'checks') = 'array' LIMIT 1), '[]'::jsonb)
		|| coalesce((SELECT jsonb_agg(jsonb_build_object('name', v.variant, 'state', v.state, 'rel', v.rel, 'lo', v.lo,
			'hi', v.hi, 'p', v.p, 'text', v.detail, 'ok', CASE WHEN v.state = 'done' THEN coalesce(
				v.rel * sign(r.rel) >= abs(r.rel) / 2 AND least(v.lo * sign(r.rel), v.hi * sign(r.rel)) > 0, false)
				WHEN v.state IN ('failed', 'cancelled') THEN false END) ORDER BY v.id)
		FROM comparison v WHERE v.purpose = 'layout' AND v.job = r.job AND v.base = r.parent AND v.head = r.culprit),
		'[]'::jsonb), '[]'::jsonb),
	'possibly_fixed', (SELECT json_agg(json_build_object('commit', f.commit, 'title', fc.subject, 'says', f.says,
			'by_title', f.by_title, 'branch', r.branch, 'commit_time', fc.commit_time, 'seen', f.seen,
			'measured', EXISTS (SELECT 1 FROM boot fb WHERE fb.job = r.job AND fb.commit IN (f.commit, f.tip)
				AND fb.state = 'done' AND fb.purpose = 'measure' AND NOT fb.excluded))
			ORDER BY fc.commit_time DESC, f.commit)
		FROM regression_fix f JOIN commit fc ON fc.hash = f.commit WHERE f.regression = r.id),
	'runners_up', (SELECT json_agg(json_build_object('commit', u->>'commit', 'p', u->'p')
			ORDER BY (u->>'p')::float8 DESC)
		FROM (SELECT u FROM jsonb_array_elements(CASE jsonb_typeof(b.status->'posterior')
				WHEN 'array' THEN b.status->'posterior' ELSE '[]' END) u
			WHERE r.culprit IS NOT NULL AND u->>'commit' <> r.culprit
				AND jsonb_typeof(u->'p') = 'number' AND (u->>'p')::float8 >= 0.001
			ORDER BY (u->>'p')::float8 DESC LIMIT 3) x),
	'bisection', CASE WHEN b.id IS NOT NULL THEN json_build_object('id', b.id, 'state', b.state,
		'good', b.good, 'bad', b.bad, 'steps', json_build_object('done',
			(SELECT count(*) FROM bisect_step s WHERE s.bisection = b.id)), 'boots', b.status->'boots',
		'state_text', bisection_waits(b), 'result', b.result) END,
	'comparison', CASE WHEN k.id IS NOT NULL THEN json_build_object('id', k.id, 'state', k.state,
		'purpose', k.purpose, 'verdict', k.verdict, 'look', k.look, 'plan', k.plan, 'p', k.p) END,
	'findings', CASE jsonb_typeof(k.evidence->'findings') WHEN 'array' THEN k.evidence->'findings' END,
	'metrics', CASE jsonb_typeof(k.evidence->'metrics') WHEN 'array' THEN k.evidence->'metrics' END,
	'runs', COALESCE((SELECT json_agg(json_build_object('commit', m.commit, 'boot', m.boot, 'run', m.run,
		'n', m.n, 'value', m.value, 'at', m.at, 'machine', m.machine,
		'excluded', CASE WHEN m.excluded THEN true END) ORDER BY m.at, m.run) FROM measured m), '[]'::json),
	'threads', COALESCE((SELECT json_agg(json_build_object('message_id', o.message_id, 'kind', o.kind,
		'subject', o.subject, 'created', o.created,
		'recipients', (SELECT json_agg(json_build_object('address', p.addr, 'reason', p.reason,
			'state', p.state, 'sent', p.sent) ORDER BY p.addr) FROM outbox_rcpt p WHERE p.outbox = o.id))
		ORDER BY o.id) FROM outbox o WHERE o.regression = r.id), '[]'::json),
	'history', COALESCE((SELECT json_agg(json_build_object('at', h.at, 'from', h.from_state,
		'to', h.to_state, 'by', h.by, 'why', h.why) ORDER BY h.id)
		FROM regression_history h WHERE h.regression = r.id), '[]'::json),
	'created', r.created, 'updated', r.updated))
FROM r JOIN job j ON j.id = r.job
	JOIN commit cb ON cb.hash = r.base JOIN commit ch ON ch.hash = r.head
	LEFT JOIN commit cc ON cc.hash = r.culprit LEFT JOIN commit cp ON cp.hash = r.parent
	LEFT JOIN comparison k ON k.id = r.comparison
	LEFT JOIN bisection b ON b.regression = r.id
