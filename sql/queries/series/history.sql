-- SPDX-License-Identifier: GPL-3.0-or-later
-- All values of the last $6 commits that branch $2 of tree $1 came to before commit $5, as job $3 measured them on machine $4; NULL:
-- on the machine that measured most of them. Oldest first. Columns: commit, boot, layout, values (float8[]), seconds since 1970.
WITH c AS (
	SELECT commit, place FROM branch_commit WHERE tree = $1 AND branch = $2 AND job = $3::bigint
		AND place < (SELECT place FROM branch_commit WHERE tree = $1 AND branch = $2 AND job = $3::bigint AND commit = $5)
	ORDER BY place DESC LIMIT $6::bigint),
b AS (
	SELECT c.place, boot.* FROM c JOIN boot ON boot.job = $3::bigint AND boot.commit = c.commit
	WHERE boot.state = 'done' AND NOT boot.excluded AND boot.purpose = 'measure'),
newest AS (
	SELECT machine, concat_ws(' ', suite_version, split_part(accel, ' ', 1)) AS made_by FROM b
	WHERE machine = coalesce($4, (SELECT machine FROM b GROUP BY machine ORDER BY count(*) DESC, machine LIMIT 1))
	ORDER BY finished DESC LIMIT 1)
SELECT b.commit, b.id, v.layout, v.v, extract(epoch FROM b.finished)
FROM newest n JOIN b ON b.machine = n.machine AND concat_ws(' ', b.suite_version, split_part(b.accel, ' ', 1)) = n.made_by
	JOIN run r ON r.boot = b.id JOIN run_values v ON v.run = r.id
WHERE r.class = 'ok'
ORDER BY b.place, b.finished, b.id, r.id
