-- SPDX-License-Identifier: GPL-3.0-or-later
-- Open regressions of tree $1, branch $2 whose culprit is known, the newest 500. Columns: id, culprit.
SELECT id, culprit FROM regression
WHERE tree = $1 AND branch = $2 AND culprit IS NOT NULL
	AND state IN ('new', 'confirmed', 'bisecting', 'reported', 'acknowledged', 'expected', 'fix-pending')
ORDER BY created DESC, id LIMIT 500
