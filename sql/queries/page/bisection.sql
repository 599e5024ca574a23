-- SPDX-License-Identifier: GPL-3.0-or-later
-- One bisection: plan, progress, posterior, steps, result. $1 id. Columns: json. No row: no such id.
SELECT json_strip_nulls(json_build_object(
	'id', b.id, 'state', b.state, 'tree', b.tree, 'job', j.name, 'machine', j.group_name,
	'suite', j.suite, 'params', jsonb_build_object('test', j.test) || j.params,
	'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better,
		'kind', m.kind) FROM metric m WHERE m.name = b.metric), json_build_object('name', b.metric)),
	'regression', b.regression, 'asked_by', b.asked_by, 'note', b.request->>'note',
	'resolved', json_build_object('good', b.good, 'bad', b.bad,
		'commits', COALESCE(b.status->'commits', b.request->'commits')),
	'notes', COALESCE(b.status->'notes', b.request->'notes'),
	'fork', b.status->'fork',
	'good_title', (SELECT subject FROM commit WHERE hash = b.good),
	'bad_title', (SELECT subject FROM commit WHERE hash = b.bad),
	'steps', json_build_object('done', (SELECT count(*) FROM bisect_step s WHERE s.bisection = b.id),
		'expect', json_build_object('p50',
			(SELECT count(*) FROM bisect_step s WHERE s.bisection = b.id) + (b.status->>'steps_left')::float8,
			'p90', (SELECT count(*) FROM bisect_step s WHERE s.bisection = b.id) + (b.status->>'steps_left_p90')::float8)),
	'boots', b.status->'boots',
	'runs', json_build_object('used', COALESCE(b.status->'runs'->'used', '0'), 'max', b.status->'runs'->'max'),
	'machine_hours', json_build_object('used', b.status->'machine_hours', 'expect', CASE WHEN b.finished IS NULL THEN
		(b.status->>'machine_hours')::float8 + (b.status->>'machine_hours_left')::float8 END), 'machines_used', b.status->'machines',
	'plan', b.status->'plan', 'queue', CASE WHEN b.finished IS NULL THEN (SELECT json_build_object('position', w.n,
			'ahead_s', round(60 * w.n * COALESCE((b.status->'model'->>'boot_min')::float8 + (b.status->'model'->>'run_min')::float8, 5) / greatest(1, w.machines)))
		FROM (SELECT (SELECT count(*) FROM boot x JOIN job xj ON xj.id = x.job JOIN work xw ON xw.dedupe = 'boot:' || x.id AND xw.state IN ('ready', 'leased')
				WHERE x.state = 'wanted' AND xj.group_name = j.group_name AND x.bisection IS DISTINCT FROM b.id
					AND xw.prio >= CASE b.request->>'priority' WHEN 'high' THEN 2 WHEN 'low' THEN -2 ELSE 0 END) AS n,
			(SELECT count(*) FROM machine m WHERE m.group_name = j.group_name AND m.health = 'good') AS machines) w) END,
	'max_runs', b.request->'max_runs', 'min_effect', b.request->'min_effect', 'confidence', b.request->'confidence',
	'deadline', b.request->>'deadline', 'paths', b.request->'paths', 'first_parent', b.request->'first_parent',
	'noise', b.status->'model', 'priority', b.request->>'priority', 'again', b.request->>'again',
	'state_text', bisection_waits(b), 'p_none', b.status->'p_none',
	'measuring', b.status->>'asked',
	'measuring_title', (SELECT subject FROM commit WHERE hash = b.status->>'asked'),
	'eta', CASE WHEN b.finished IS NULL AND b.status->'eta' IS NOT NULL THEN json_build_object(
		'p50', to_char(to_timestamp((b.status->'eta'->>'at')::float8 + (b.status->'eta'->>'p50_s')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
		'p90', to_char(to_timestamp((b.status->'eta'->>'at')::float8 + (b.status->'eta'->>'p90_s')::float8) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) END,
	'effective_left', b.status->'effective_left',
	'posterior', COALESCE((SELECT json_agg(json_build_object('commit', u.v->>'commit', 'p', u.v->'p',
			'title', c.subject)
			ORDER BY CASE jsonb_typeof(u.v->'place') WHEN 'number' THEN (u.v->>'place')::float8 END, u.n)
		FROM jsonb_array_elements(CASE jsonb_typeof(b.status->'posterior')
			WHEN 'array' THEN b.status->'posterior' ELSE '[]' END) WITH ORDINALITY AS u (v, n)
		LEFT JOIN commit c ON c.hash = u.v->>'commit'), '[]'::json),
	'log', COALESCE((SELECT json_agg(json_build_object('n', s.n, 'commit', s.commit, 'title', c.subject,
		'verdict', s.verdict, 'p_bad', s.p_bad, 'rel', s.rel, 'boots', s.boots, 'runs', s.runs,
		'left', s.left_eff, 'after', (SELECT json_build_object('commit', a->>'commit', 'p', a->'p', 'p_none', a->'p_none',
			'hold95', a->'hold95', 'bits', a->'bits')
			FROM jsonb_array_elements(CASE jsonb_typeof(b.status->'after') WHEN 'array' THEN b.status->'after' ELSE '[]' END) a
			WHERE a->'n' = to_jsonb(s.n) LIMIT 1), 'reason', s.reason, 'detail', s.detail, 'took_s', s.took_s, 'at', s.at,
		'log', CASE s.reason
			WHEN 'build' THEN (SELECT '/builds/' || max(x.id) || '/log.txt' FROM build x
				WHERE x.commit = s.commit AND x.kconfig = j.kconfig AND x.log IS NOT NULL)
			WHEN 'boot' THEN (SELECT '/boots/' || max(x.id) || '/console.txt' FROM boot x
				WHERE x.commit = s.commit AND x.job = j.id AND x.console IS NOT NULL) END)
		ORDER BY s.n)
		FROM bisect_step s LEFT JOIN commit c ON c.hash = s.commit WHERE s.bisection = b.id), '[]'::json),
	'result', b.result,
	'gain_title', (SELECT subject FROM commit WHERE hash = b.result->'gain'->>'commit'),
	'culprit_title', (SELECT subject FROM commit WHERE hash = b.result->>'culprit'),
	'created', b.created, 'started', b.started, 'finished', b.finished))
FROM bisection b JOIN job j ON j.id = b.job WHERE b.id = $1
