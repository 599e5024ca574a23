-- SPDX-License-Identifier: GPL-3.0-or-later
-- What the control build gave on machine $1, oldest first: the mean of its job's metric of each good boot, of the build and the
-- version of the suite that were measured last. Columns: seconds since 1970, value.
WITH newest AS (
	SELECT build, commit, job, suite_version FROM boot
	WHERE machine = $1 AND purpose = 'control' AND state = 'done' ORDER BY finished DESC LIMIT 1)
SELECT extract(epoch FROM b.finished), avg(v.v[array_position(l.metrics, m.id)]) FILTER (WHERE abs(v.v[array_position(l.metrics, m.id)]) < 1e150)
FROM newest n JOIN boot b ON b.build IS NOT DISTINCT FROM n.build AND b.commit = n.commit AND b.job = n.job
	JOIN job j ON j.id = b.job JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id
	JOIN metric_layout l ON l.id = v.layout JOIN metric m ON m.name = j.metric
WHERE b.machine = $1 AND b.purpose = 'control' AND b.state = 'done' AND r.class = 'ok'
	AND b.suite_version IS NOT DISTINCT FROM n.suite_version
GROUP BY b.id
HAVING avg(v.v[array_position(l.metrics, m.id)]) FILTER (WHERE abs(v.v[array_position(l.metrics, m.id)]) < 1e150) IS NOT NULL
ORDER BY b.finished, b.id
