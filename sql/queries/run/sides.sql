-- SPDX-License-Identifier: GPL-3.0-or-later
-- Metrics of good runs of job $1 of the commits $2 (base) and $3 (head) on boots of bisection $4, or of any when NULL; only those
-- of the machine, version of the suite and accelerator that measured the head last.
-- Columns: metric, unit, headline, base mean, base sd, base n, head mean, head sd, head n.
SELECT m.metric, min(m.unit), bool_or(m.headline),
	avg(m.value) FILTER (WHERE b.commit = $2), coalesce(stddev_samp(m.value) FILTER (WHERE b.commit = $2), 0),
	count(*) FILTER (WHERE b.commit = $2),
	avg(m.value) FILTER (WHERE b.commit = $3), coalesce(stddev_samp(m.value) FILTER (WHERE b.commit = $3), 0),
	count(*) FILTER (WHERE b.commit = $3)
FROM boot b JOIN run_metric m ON m.boot = b.id
WHERE b.job = $1::bigint AND b.commit IN ($2, $3) AND b.state = 'done' AND NOT b.excluded AND b.purpose = 'measure'
	AND ($4::text IS NULL OR b.bisection = $4)
	AND concat_ws(' ', b.machine, b.suite_version, split_part(b.accel, ' ', 1)) =
		(SELECT concat_ws(' ', o.machine, o.suite_version, split_part(o.accel, ' ', 1)) FROM boot o
		WHERE o.job = $1::bigint AND o.commit = $3 AND o.state = 'done' AND NOT o.excluded AND o.purpose = 'measure'
			AND ($4::text IS NULL OR o.bisection = $4) ORDER BY o.finished DESC NULLS LAST, o.id DESC LIMIT 1)
GROUP BY m.metric
HAVING count(*) FILTER (WHERE b.commit = $2) > 0 AND count(*) FILTER (WHERE b.commit = $3) > 0
ORDER BY 1
