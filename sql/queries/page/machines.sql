-- SPDX-License-Identifier: GPL-3.0-or-later
-- All machines, or machine $1 (NULL: all), with what they did in the last week. Columns: json.
SELECT json_strip_nulls(json_build_object('items', COALESCE(json_agg(json_build_object(
	'name', m.name, 'group', m.group_name, 'driver', m.driver, 'health', m.health,
	'state', CASE WHEN m.lease_until > now() THEN m.state ELSE 'idle' END, 'busy', COALESCE(m.lease_until > now(), false),
	'note', m.note, 'drained_by', m.drained_by, 'drained_at', m.drained_at, 'last_seen', m.last_seen, 'last_check', m.last_check,
	'boots', COALESCE(b.n, 0), 'failed', COALESCE(b.failed, 0),
	'boot_s', b.boot_s, 'setup_s', b.setup_s, 'overhead_s', r.overhead_s,
	'idle', CASE WHEN d.first IS NOT NULL THEN greatest(0, 1 - d.used_s / greatest(extract(epoch FROM now() - d.first), 1)) END,
	'waiting', (SELECT count(*) FROM work w WHERE w.kind = 'boot' AND w.state = 'ready'
		AND w.payload->>'group' = m.group_name AND COALESCE(w.payload->>'machine', m.name) = m.name),
	'control', (SELECT json_build_object('commit', c.commit, 'title', k.subject, 'job', j.name, 'since', c.since)
		FROM control c JOIN commit k ON k.hash = c.commit JOIN job j ON j.id = c.job
		WHERE c.group_name = m.group_name ORDER BY c.since LIMIT 1)
	) ORDER BY m.group_name, m.name), '[]'::json)))
FROM machine m
LEFT JOIN LATERAL (
	SELECT count(*) AS n, count(*) FILTER (WHERE state = 'failed') AS failed,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY boot.boot_s) AS boot_s,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY boot.setup_s) AS setup_s
	FROM boot WHERE machine = m.name AND finished > now() - interval '7 days'
) b ON true
LEFT JOIN LATERAL (
	-- What a run costs beside its own commands.
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (x.took_s - x.run_s) / x.runs) AS overhead_s
	FROM (SELECT boot.id, boot.took_s, sum(run.host_s * run.run_s / nullif(run.wall_s, 0)) AS run_s, count(*) AS runs FROM boot JOIN run ON run.boot = boot.id
		WHERE boot.machine = m.name AND boot.state = 'done' AND boot.finished > now() - interval '7 days'
		GROUP BY boot.id) x
) r ON true
LEFT JOIN LATERAL (
	SELECT min(started) AS first, sum(took_s) AS used_s FROM boot
	WHERE machine = m.name AND finished > now() - interval '1 day'
) d ON true
WHERE $1::text IS NULL OR m.name = $1
