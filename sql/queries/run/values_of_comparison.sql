-- SPDX-License-Identifier: GPL-3.0-or-later
-- All values of good runs of comparison $1, in the order in which they ran. Columns: boot, commit, metric, unit, better, headline, value,
-- place in time, run.
SELECT b.id, b.commit, m.metric, m.unit, m.better, m.headline, m.value, extract(epoch FROM b.finished), m.run
FROM boot b JOIN run_metric m ON m.boot = b.id
WHERE b.comparison = $1::bigint AND b.state = 'done' AND NOT b.excluded
	AND concat(b.suite_version, ' ', split_part(b.accel, ' ', 1)) =
		(SELECT concat(o.suite_version, ' ', split_part(o.accel, ' ', 1)) FROM boot o
		WHERE o.comparison = b.comparison AND o.state = 'done' AND NOT o.excluded ORDER BY o.finished DESC LIMIT 1)
ORDER BY m.headline DESC, m.metric, b.finished, m.run
