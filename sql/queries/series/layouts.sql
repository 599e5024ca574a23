-- SPDX-License-Identifier: GPL-3.0-or-later
-- The metrics of the layouts $1 (integer[]), in the order of their values. Columns: layout, name, unit, better, headline, kind.
SELECT l.id, m.name, m.unit, m.better, m.headline, m.kind
FROM metric_layout l CROSS JOIN LATERAL unnest(l.metrics) WITH ORDINALITY AS u (metric, place) JOIN metric m ON m.id = u.metric
WHERE l.id = ANY ($1::integer[]) ORDER BY l.id, u.place
