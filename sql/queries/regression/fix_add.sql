-- SPDX-License-Identifier: GPL-3.0-or-later
-- Commit $2 says that it 'fixes' or 'reverts' ($3) the culprit of regression $1, by the title alone if $4; $5 is the head in which it
-- was seen. The first time $6 goes into the history; the state stays. Columns: regression. No row: it was known.
WITH said AS (
	INSERT INTO regression_fix (regression, commit, says, by_title, tip) VALUES ($1, $2, $3, $4::boolean, $5)
	ON CONFLICT (regression, commit) DO UPDATE SET says = excluded.says, by_title = excluded.by_title, tip = excluded.tip
	RETURNING regression, xmax = 0 AS fresh
), moved AS (
	UPDATE regression r SET updated = now() FROM said s WHERE r.id = s.regression AND s.fresh RETURNING r.id, r.state
)
INSERT INTO regression_history (regression, from_state, to_state, by, why)
SELECT id, state, state, 'kperfbot', $6 FROM moved RETURNING regression
