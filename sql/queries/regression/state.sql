-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regression $1 goes from state $2 to $3, by $4, because $5. One row: id. No row: it was not in state $2.
WITH moved AS (
	UPDATE regression SET state = $3, updated = now() WHERE id = $1 AND state = $2 RETURNING id
)
INSERT INTO regression_history (regression, from_state, to_state, by, why)
SELECT id, $2, $3, $4, $5 FROM moved RETURNING regression
