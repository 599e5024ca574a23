-- SPDX-License-Identifier: GPL-3.0-or-later
-- A commit with what was made of it. $1 whole hash, or its first digits. Columns: json. No row: not
-- known; two rows: the digits fit more than one.
SELECT json_strip_nulls(json_build_object(
	'commit', c.hash, 'title', c.subject, 'author', c.author_name, 'author_time', c.author_time,
	'committer', c.committer_name, 'commit_time', c.commit_time, 'parents', to_json(c.parents),
	'heads', COALESCE((SELECT json_agg(json_build_object('tree', h.tree, 'branch', h.branch)
		ORDER BY h.tree, h.branch) FROM head h WHERE h.commit = c.hash), '[]'::json),
	'builds', COALESCE((SELECT json_agg(json_build_object('id', b.id, 'kconfig', b.kconfig, 'variant', nullif(b.variant, ''),
		'compiler', b.compiler, 'state', b.state, 'class', b.fail_class, 'detail', b.detail,
		'took_s', b.took_s, 'finished', b.finished,
		'log', CASE WHEN b.log IS NOT NULL THEN '/builds/' || b.id || '/log.txt' END) ORDER BY b.id)
		FROM build b WHERE b.commit = c.hash), '[]'::json),
	'boots', COALESCE((SELECT json_agg(json_build_object('id', x.id, 'job', j.name, 'machine', x.machine,
		'state', x.state, 'class', x.class, 'detail', x.detail, 'took_s', x.took_s,
		'finished', x.finished,
		'console', CASE WHEN x.console IS NOT NULL THEN '/boots/' || x.id || '/console.txt' END,
		'runs', COALESCE((SELECT json_agg(json_build_object('id', r.id, 'n', r.n, 'class', r.class,
			'value', (SELECT m.value FROM run_metric m WHERE m.run = r.id AND m.metric = j.metric),
			'raw', CASE WHEN r.raw IS NOT NULL THEN '/runs/' || r.id || '/raw.txt' END) ORDER BY r.n)
			FROM run r WHERE r.boot = x.id), '[]'::json)) ORDER BY x.id)
		FROM (SELECT * FROM boot WHERE commit = c.hash ORDER BY id DESC LIMIT 100) x
		JOIN job j ON j.id = x.job), '[]'::json),
	'regressions', COALESCE((SELECT json_agg(json_build_object('id', r.id, 'state', r.state,
		'metric', r.metric, 'rel', r.rel, 'blamed', r.culprit = c.hash) ORDER BY r.created DESC)
		FROM regression r WHERE c.hash IN (r.culprit, r.head)), '[]'::json)))
FROM commit c
WHERE c.hash = $1 OR (length($1) < 40 AND c.hash LIKE $1 || '%')
LIMIT 2
