-- SPDX-License-Identifier: GPL-3.0-or-later
-- An earlier regression with culprit $1, other than $2: one report per culprit, whichever tree, job and metric showed it. What was found
-- invalid or an effect of code layout says nothing about other tests, but is not reported again for the same one; dup and lab do
-- not count. Columns: id.
SELECT p.id FROM regression r JOIN job rj ON rj.id = r.job, regression p JOIN job pj ON pj.id = p.job
WHERE r.id = $2 AND p.culprit = $1 AND p.id <> $2
	AND (p.state NOT IN ('invalid', 'dup', 'lab', 'layout') OR (p.state IN ('invalid', 'layout')
		AND p.metric = r.metric AND pj.suite = rj.suite AND pj.test = rj.test AND pj.params = rj.params))
ORDER BY p.created, p.id LIMIT 1
