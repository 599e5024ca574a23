-- SPDX-License-Identifier: GPL-3.0-or-later
-- All values of other commits of job $1 than those that branch $3 of tree $2 has compared, on the machines of group $4: other branches,
-- steps of bisections. The last $5 of them, oldest first; one machine's boots of a commit stand together.
-- Columns: commit and machine, boot, layout, values (float8[]), seconds since 1970.
WITH b AS (
	SELECT boot.*, concat(boot.commit, ' ', boot.machine) AS side,
		concat_ws(' ', boot.suite_version, split_part(boot.accel, ' ', 1)) AS made_by
	FROM boot JOIN machine m ON m.name = boot.machine
	WHERE boot.job = $1::bigint AND m.group_name = $4 AND boot.state = 'done' AND NOT boot.excluded AND boot.purpose = 'measure'
		AND NOT EXISTS (SELECT FROM branch_commit c
			WHERE c.tree = $2 AND c.branch = $3 AND c.job = $1::bigint AND c.commit = boot.commit)),
newest AS (SELECT made_by FROM b ORDER BY finished DESC LIMIT 1),
sides AS (
	SELECT side, max(finished) AS at FROM b JOIN newest USING (made_by) GROUP BY side HAVING count(*) > 1
	ORDER BY at DESC LIMIT $5::bigint)
SELECT b.side, b.id, v.layout, v.v, extract(epoch FROM b.finished)
FROM sides JOIN b USING (side) JOIN newest USING (made_by)
	JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id
WHERE r.class = 'ok'
ORDER BY sides.at, b.side, b.finished, b.id, r.id
