-- SPDX-License-Identifier: GPL-3.0-or-later
-- An earlier regression of tree $1, job name of job $2, metric $3 with culprit $4, other than $5, that is not invalid or dup.
-- Columns: id.
SELECT r.id FROM regression r JOIN job j ON j.id = r.job
WHERE r.metric = $3 AND r.culprit = $4 AND r.id <> $5 AND r.state NOT IN ('invalid', 'dup', 'lab')
	AND j.name = (SELECT name FROM job WHERE id = $2::bigint) AND r.tree = $1
ORDER BY r.created LIMIT 1
