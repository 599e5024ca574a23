-- SPDX-License-Identifier: GPL-3.0-or-later
-- What was said of regression $1 and is not in head $2 of its branch any more, was taken back there, or is older than
-- as many as are kept. One row for each: regression.
WITH gone AS (
	DELETE FROM regression_fix WHERE regression = $1 AND tip <> $2 RETURNING regression, commit
), moved AS (
	UPDATE regression r SET updated = now() WHERE id IN (SELECT regression FROM gone) RETURNING id, state
)
INSERT INTO regression_history (regression, from_state, to_state, by, why)
SELECT m.id, m.state, m.state, 'kperfbot', left(g.commit, 12) || ' is no possible fix any more: it left the branch, was taken back, or newer ones took its place'
FROM gone g JOIN moved m ON m.id = g.regression RETURNING regression
