-- SPDX-License-Identifier: GPL-3.0-or-later
-- Open work in the order in which it will be taken, then what gave up. $1 most rows. Columns: json.
SELECT json_strip_nulls(json_build_object(
	'counts', (SELECT COALESCE(json_object_agg(state, n), '{}'::json) FROM (
		SELECT state, count(*) AS n FROM work GROUP BY state) s),
	'items', COALESCE((SELECT json_agg(json_build_object('id', w.id, 'kind', w.kind, 'state', w.state,
		'prio', w.prio, 'payload', w.payload,
		'comparison', (SELECT json_build_object('id', k.id, 'purpose', k.purpose, 'look', k.look, 'plan', k.plan)
			FROM comparison k WHERE k.state = 'open' AND k.id = CASE w.kind
				WHEN 'detect' THEN CASE jsonb_typeof(w.payload->'comparison') WHEN 'number' THEN (w.payload->>'comparison')::numeric END
				WHEN 'boot' THEN (SELECT b.comparison FROM boot b
					WHERE b.id = CASE jsonb_typeof(w.payload->'boot') WHEN 'number' THEN (w.payload->>'boot')::numeric END)
				END), 'run_at', w.run_at, 'waiting', w.run_at > now(),
		'owner', w.lease_owner, 'lease_until', w.lease_until, 'attempts', w.attempts,
		'crashes', w.crashes, 'last_error', w.last_error, 'created', w.created)
		ORDER BY w.state, w.prio DESC, w.run_at, w.id)
		FROM (SELECT * FROM work WHERE state IN ('ready', 'leased')
			ORDER BY state, prio DESC, run_at, id LIMIT $1::bigint) w), '[]'::json),
	'gave_up', COALESCE((SELECT json_agg(json_build_object('id', w.id, 'kind', w.kind, 'state', w.state,
		'payload', w.payload, 'attempts', w.attempts, 'crashes', w.crashes,
		'last_error', w.last_error, 'finished', w.finished) ORDER BY w.finished DESC NULLS FIRST, w.id DESC)
		FROM (SELECT * FROM work WHERE state IN ('failed', 'quarantined')
			ORDER BY finished DESC NULLS FIRST, id DESC LIMIT 50) w), '[]'::json)))
