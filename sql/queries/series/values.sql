-- SPDX-License-Identifier: GPL-3.0-or-later
-- What machine $4 measured of metric $5 of job $3 along branch $2 of tree $1: the mean of each good boot, in the order of the branch,
-- of the last $6 commits at most; of the newest version of the suite and accelerator alone. Means of
-- larger numbers than 1e150 would overflow. Columns: commit, boot, value,
-- seconds since 1970.
WITH c AS (
	SELECT commit, place FROM branch_commit WHERE tree = $1 AND branch = $2 AND job = $3::bigint
	ORDER BY place DESC LIMIT $6::bigint),
newest AS (
	SELECT concat_ws(' ', suite_version, split_part(accel, ' ', 1)) AS made_by FROM boot
	WHERE job = $3::bigint AND machine = $4 AND state = 'done' AND NOT excluded AND purpose = 'measure'
	ORDER BY finished DESC LIMIT 1)
SELECT c.commit, b.id, avg(v.v[array_position(l.metrics, m.id)]) FILTER (WHERE abs(v.v[array_position(l.metrics, m.id)]) < 1e150), extract(epoch FROM b.finished)
FROM newest CROSS JOIN c JOIN boot b ON b.job = $3::bigint AND b.commit = c.commit
	JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id JOIN metric_layout l ON l.id = v.layout
	JOIN metric m ON m.name = $5
WHERE b.machine = $4 AND b.state = 'done' AND NOT b.excluded AND b.purpose = 'measure' AND r.class = 'ok'
	AND concat_ws(' ', b.suite_version, split_part(b.accel, ' ', 1)) = newest.made_by
GROUP BY c.place, c.commit, b.id
HAVING avg(v.v[array_position(l.metrics, m.id)]) FILTER (WHERE abs(v.v[array_position(l.metrics, m.id)]) < 1e150) IS NOT NULL
ORDER BY c.place, b.finished, b.id
