-- SPDX-License-Identifier: GPL-3.0-or-later
-- Control boots of machine $1 with the build and job of boot $2, oldest first: mean of the job's metric. Columns: boot, value.
SELECT b.id, avg(m.value) FROM boot w JOIN boot b ON b.build IS NOT DISTINCT FROM w.build AND b.commit = w.commit AND b.job = w.job
	JOIN job j ON j.id = b.job JOIN run_metric m ON m.boot = b.id AND m.metric = j.metric
WHERE w.id = $2::bigint AND b.machine = $1 AND b.purpose = 'control' AND b.state = 'done' AND NOT b.excluded
	AND b.suite_version = (SELECT suite_version FROM boot WHERE id = $2::bigint)
GROUP BY b.id ORDER BY b.finished, b.id
