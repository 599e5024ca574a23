-- SPDX-License-Identifier: GPL-3.0-or-later
-- What happened on machine $1: its newest events, control boots, boots and facts. Columns: json. No row: there is no such machine.
SELECT json_strip_nulls(json_build_object(
	'events', COALESCE((SELECT json_agg(json_build_object('at', v.at, 'kind', v.kind, 'by', v.by, 'text', v.text) ORDER BY v.id DESC)
		FROM (SELECT * FROM machine_event WHERE machine = m.name ORDER BY id DESC LIMIT 50) v), '[]'::json),
	'controls', COALESCE((SELECT json_agg(json_build_object('boot', b.id, 'at', b.finished, 'commit', b.commit, 'state', b.state,
		'class', b.class, 'detail', b.detail, 'excluded', b.excluded, 'metric', j.metric,
		'value', (SELECT avg(x.value) FROM run_metric x WHERE x.boot = b.id AND x.metric = j.metric)) ORDER BY b.finished DESC)
		FROM (SELECT * FROM boot WHERE machine = m.name AND purpose = 'control' ORDER BY finished DESC LIMIT 30) b
		JOIN job j ON j.id = b.job), '[]'::json),
	'recent', COALESCE((SELECT json_agg(json_build_object('boot', b.id, 'at', b.finished, 'commit', b.commit, 'job', j.name,
		'purpose', b.purpose, 'state', b.state, 'class', b.class, 'detail', b.detail, 'excluded', b.excluded,
		'proven_by', b.control_boot, 'boot_s', b.boot_s, 'setup_s', b.setup_s, 'took_s', b.took_s,
		'console', b.console IS NOT NULL) ORDER BY b.finished DESC)
		FROM (SELECT * FROM boot WHERE machine = m.name ORDER BY finished DESC LIMIT 30) b
		JOIN job j ON j.id = b.job), '[]'::json),
	'facts', (SELECT facts FROM boot WHERE machine = m.name AND facts IS NOT NULL ORDER BY finished DESC LIMIT 1)))
FROM machine m WHERE m.name = $1
