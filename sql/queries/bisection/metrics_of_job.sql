-- SPDX-License-Identifier: GPL-3.0-or-later
-- Metrics that the last good boots of job $1 gave, at most 100. Columns: name. No row: it never ran.
WITH b AS (
	SELECT id FROM boot WHERE job = $1::bigint AND state = 'done' AND NOT excluded ORDER BY finished DESC LIMIT 10)
SELECT DISTINCT v.metric FROM b JOIN run_metric v ON v.boot = b.id ORDER BY v.metric LIMIT 100
