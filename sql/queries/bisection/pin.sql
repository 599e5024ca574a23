-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1 has no machine yet: that machine of its job's group which has measured most of the commits $2 (text[]) before, if it
-- is good. '' when none is, then the first that takes a boot is it.
-- Columns: machine.
WITH best AS (
	SELECT m.name FROM bisection s JOIN job j ON j.id = s.job JOIN machine m ON m.group_name = j.group_name
	LEFT JOIN boot b ON b.machine = m.name AND b.job = s.job AND b.commit = ANY ($2::text[]) AND b.state = 'done' AND NOT b.excluded
	WHERE s.id = $1 AND m.health = 'good'
	GROUP BY m.name HAVING count(b.id) > 0 ORDER BY count(b.id) DESC, m.name LIMIT 1
), done AS (
	UPDATE bisection SET machine = (SELECT name FROM best) WHERE id = $1 AND machine IS NULL RETURNING machine
)
SELECT coalesce((SELECT machine FROM done), '')
