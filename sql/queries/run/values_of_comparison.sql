-- SPDX-License-Identifier: GPL-3.0-or-later
-- All values of good runs of comparison $1, one side after the other, each in the order in which it ran. Columns: commit, boot, layout,
-- values (float8[]), seconds since 1970.
SELECT b.commit, b.id, v.layout, v.v, extract(epoch FROM b.finished)
FROM boot b JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id
WHERE b.comparison = $1::bigint AND b.state = 'done' AND NOT b.excluded AND r.class = 'ok'
	AND concat(b.suite_version, ' ', split_part(b.accel, ' ', 1)) =
		(SELECT concat(o.suite_version, ' ', split_part(o.accel, ' ', 1)) FROM boot o
		WHERE o.comparison = b.comparison AND o.state = 'done' AND NOT o.excluded ORDER BY o.finished DESC LIMIT 1)
ORDER BY b.commit, b.finished, b.id, r.id
