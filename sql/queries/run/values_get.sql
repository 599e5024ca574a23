-- SPDX-License-Identifier: GPL-3.0-or-later
-- Values of run $1. Columns: metric, value.
SELECT m.name, u.value FROM run_values rv JOIN metric_layout l ON l.id = rv.layout
	CROSS JOIN LATERAL unnest(l.metrics, rv.v) AS u (metric, value) JOIN metric m ON m.id = u.metric
WHERE rv.run = $1::bigint
