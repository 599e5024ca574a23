-- SPDX-License-Identifier: GPL-3.0-or-later
-- An earlier regression with culprit $1, other than $2, that is not invalid, dup or of the lab: one report per culprit,
-- whichever tree, job and metric showed it. Columns: id.
SELECT id FROM regression
WHERE culprit = $1 AND id <> $2 AND state NOT IN ('invalid', 'dup', 'lab')
ORDER BY created LIMIT 1
