-- SPDX-License-Identifier: GPL-3.0-or-later
-- One series: its last $6 commits from $2 to $3 (first digits of their hashes; NULL: open) and from day $4 to day $5 of measuring
-- (NULL: open), with the levels between its change points. Columns: json. No row: no such id ($1).
WITH s AS (SELECT s.*, j.name AS job_name, j.suite, j.test, j.params, j.metric AS headline FROM series s JOIN job j ON j.id = s.job
	WHERE s.id = $1),
newest AS MATERIALIZED (
	SELECT b.suite_version, split_part(b.accel, ' ', 1) AS accel, concat_ws(' ', b.suite_version, split_part(b.accel, ' ', 1)) AS made_by
	FROM s JOIN boot b ON b.job = s.job AND b.machine = s.machine
	WHERE b.state = 'done' AND NOT b.excluded AND b.purpose = 'measure' ORDER BY b.finished DESC LIMIT 1),
c AS (SELECT bc.commit, bc.place FROM s JOIN branch_commit bc ON bc.tree = s.tree AND bc.branch = s.branch AND bc.job = s.job),
-- When a commit was measured first; read only where a day is asked for.
begun AS (SELECT c.place, min(b.finished) AS at FROM s CROSS JOIN c JOIN boot b ON b.job = s.job AND b.commit = c.commit AND b.machine = s.machine
	WHERE b.state = 'done' AND NOT b.excluded AND b.purpose = 'measure' GROUP BY c.place),
ends AS (
	SELECT greatest(
			CASE WHEN $2::text IS NOT NULL THEN coalesce((SELECT max(place) FROM c WHERE left(commit, length($2)) = $2), 9e18) END,
			CASE WHEN $4::text IS NOT NULL THEN coalesce((SELECT min(place) FROM begun
				WHERE at >= ($4 || ' 00:00Z')::timestamptz), 9e18) END, 0) AS lo,
		least(
			CASE WHEN $3::text IS NOT NULL THEN coalesce((SELECT max(place) FROM c WHERE left(commit, length($3)) = $3), -1) END,
			CASE WHEN $5::text IS NOT NULL THEN coalesce((SELECT max(place) FROM begun
				WHERE at < ($5 || ' 00:00Z')::timestamptz + interval '1 day'), -1) END, 9e18) AS hi),
span AS MATERIALIZED (
	SELECT c.commit, c.place FROM ends CROSS JOIN c WHERE c.place BETWEEN ends.lo AND ends.hi ORDER BY c.place DESC LIMIT $6::bigint),
value AS MATERIALIZED (
	SELECT c.commit, b.id AS boot, b.finished, avg(v.v[array_position(l.metrics, m.id)]) AS value
	FROM s CROSS JOIN newest CROSS JOIN span c JOIN boot b ON b.job = s.job AND b.commit = c.commit AND b.machine = s.machine
		JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id JOIN metric_layout l ON l.id = v.layout
		JOIN metric m ON m.name = s.metric
	WHERE b.state = 'done' AND NOT b.excluded AND b.purpose = 'measure' AND r.class = 'ok'
		AND concat_ws(' ', b.suite_version, split_part(b.accel, ' ', 1)) = newest.made_by
		AND v.v[array_position(l.metrics, m.id)] BETWEEN -1e150 AND 1e150 -- squares of larger ones are no numbers
	GROUP BY c.commit, b.id),
-- Materialized: the planner takes each of these for one row, and would make them once for each of the others.
measured AS MATERIALIZED (
	SELECT commit, count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, stddev_samp(value) AS sd,
		min(finished) AS at,
		json_agg(json_build_object('boot', boot, 'value', value, 'at', finished) ORDER BY finished, boot) AS boots
	FROM value GROUP BY commit),
point AS MATERIALIZED (SELECT c.commit, c.place, m.n, m.median, m.sd, m.at, m.boots FROM span c LEFT JOIN measured m USING (commit)),
compared AS MATERIALIZED (
	SELECT DISTINCT ON (x.head) x.head, json_build_object('id', x.id, 'rel', x.rel, 'verdict', x.verdict) AS o
	FROM s JOIN comparison x ON x.tree = s.tree AND x.branch = s.branch AND x.job = s.job
	-- A place is 2 * id or one more, so those before the span cannot be of it.
	WHERE x.purpose = 'head' AND x.id >= (SELECT min(place) / 2 FROM span) AND x.head = ANY (ARRAY(SELECT commit FROM span))
	ORDER BY x.head, x.id),
change AS (
	SELECT p.*, f.place, o.place AS old_place, p.state NOT IN ('refuted', 'went-away') AS stands
	FROM s JOIN change_point p ON p.series = s.id LEFT JOIN c f ON f.commit = p.first LEFT JOIN c o ON o.commit = p.last),
level AS (
	-- What lies between the last commit of an old level and the first of the new one belongs to neither.
	SELECT place, commit, median, (SELECT count(*) FROM change x WHERE x.place <= point.place AND x.stands) AS seg
	FROM point WHERE median IS NOT NULL AND NOT EXISTS (SELECT FROM change x
		WHERE x.stands AND x.old_place < point.place AND point.place < x.place)),
center AS (SELECT seg, percentile_cont(0.5) WITHIN GROUP (ORDER BY median) AS center FROM level GROUP BY seg)
SELECT json_strip_nulls(json_build_object(
	'id', s.id, 'tree', s.tree, 'branch', s.branch, 'machine', s.machine, 'job', s.job_name, 'suite', s.suite,
	'params', jsonb_build_object('test', s.test) || s.params,
	'metric', COALESCE((SELECT json_build_object('name', m.name, 'unit', m.unit, 'better', m.better, 'kind', m.kind,
		'about', m.about) FROM metric m WHERE m.name = s.metric), json_build_object('name', s.metric)),
	'made_by', (SELECT json_build_object('suite_version', suite_version, 'accel', nullif(accel, '')) FROM newest),
	'commits', (SELECT count(*) FROM c),
	'points', COALESCE((SELECT json_agg(json_build_object('commit', p.commit, 'title', left(k.subject, 200), 'n', p.n, 'median', p.median,
		'sd', p.sd, 'at', p.at, 'boots', p.boots, 'compared', x.o) ORDER BY p.place)
		FROM point p LEFT JOIN commit k ON k.hash = p.commit LEFT JOIN compared x ON x.head = p.commit), '[]'::json),
	-- Noise: 1.4826 times the median distance from the level is the standard deviation where noise is normal.
	'levels', COALESCE((SELECT json_agg(x.o ORDER BY x.at) FROM (
		SELECT min(l.place) AS at, json_build_object('first', (array_agg(l.commit ORDER BY l.place))[1],
			'last', (array_agg(l.commit ORDER BY l.place DESC))[1], 'commits', count(*), 'center', c.center,
			'sd', 1.4826 * percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(l.median - c.center))) AS o
		FROM level l JOIN center c USING (seg) GROUP BY c.seg, c.center) x), '[]'::json),
	'changes', COALESCE((SELECT json_agg(json_build_object('first', x.first, 'last', x.last, 'rel', x.rel, 'p', x.p,
		'state', x.state, 'why', x.detail, 'title', left(k.subject, 200), 'comparison', x.comparison,
		-- What was measured again says more than the two levels, of which one may be part of a slope.
		'measured', (SELECT m.rel FROM comparison m WHERE m.id = x.comparison AND x.state IN ('confirmed', 'refuted', 'unconfirmed')),
		'regression', (SELECT min(r.id) FROM regression r WHERE r.comparison = x.comparison),
		'seen', x.seen, 'updated', x.updated) ORDER BY x.place DESC NULLS LAST, x.id DESC)
		FROM change x LEFT JOIN commit k ON k.hash = x.first), '[]'::json),
	'created', s.created))
FROM s
