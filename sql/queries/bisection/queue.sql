-- SPDX-License-Identifier: GPL-3.0-or-later
-- What bisection $1, whose boots have priority $2, finds before it in its group. Columns: boots of others that are waited for and
-- come first, machines that can take them. One row.
WITH g AS (SELECT j.group_name AS name FROM bisection s JOIN job j ON j.id = s.job WHERE s.id = $1)
SELECT (SELECT count(*) FROM boot b JOIN job j ON j.id = b.job
		JOIN work w ON w.dedupe = 'boot:' || b.id AND w.state IN ('ready', 'leased')
	WHERE b.state = 'wanted' AND j.group_name = (SELECT name FROM g) AND b.bisection IS DISTINCT FROM $1 AND w.prio >= $2::bigint),
	(SELECT count(*) FROM machine m WHERE m.group_name = (SELECT name FROM g) AND m.health = 'good')
