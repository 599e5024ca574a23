-- SPDX-License-Identifier: GPL-3.0-or-later
-- Metrics of good runs of job $1 of the commits $2 (base) and $3 (head) on boots of bisection $4, or of any when NULL.
-- Columns: metric, unit, headline, base mean, base sd, base n, head mean, head sd, head n.
SELECT m.metric, min(m.unit), bool_or(m.headline),
	avg(m.value) FILTER (WHERE b.commit = $2), coalesce(stddev_samp(m.value) FILTER (WHERE b.commit = $2), 0),
	count(*) FILTER (WHERE b.commit = $2),
	avg(m.value) FILTER (WHERE b.commit = $3), coalesce(stddev_samp(m.value) FILTER (WHERE b.commit = $3), 0),
	count(*) FILTER (WHERE b.commit = $3)
FROM boot b JOIN run_metric m ON m.boot = b.id
WHERE b.job = $1::bigint AND b.commit IN ($2, $3) AND b.state = 'done' AND NOT b.excluded
	AND ($4::text IS NULL OR b.bisection = $4)
GROUP BY m.metric
HAVING count(*) FILTER (WHERE b.commit = $2) > 0 AND count(*) FILTER (WHERE b.commit = $3) > 0
ORDER BY 1
