-- SPDX-License-Identifier: GPL-3.0-or-later
-- Does job $1 have metric $2, by what its last good boots gave? Columns: it was seen, anything was seen. One row.
WITH b AS (
	SELECT id FROM boot WHERE job = $1::bigint AND state = 'done' AND NOT excluded ORDER BY finished DESC LIMIT 10)
SELECT coalesce(bool_or(v.metric = $2), false), count(*) > 0 FROM b JOIN run_metric v ON v.boot = b.id
