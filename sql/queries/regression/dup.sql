-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regression $1 is the same as $2.
WITH was AS (
	SELECT id, state FROM regression WHERE id = $1 FOR UPDATE
), moved AS (
	UPDATE regression SET state = 'dup', dup_of = $2, updated = now() WHERE id = $1
)
INSERT INTO regression_history (regression, from_state, to_state, by, why)
SELECT id, state, 'dup', 'kperfbot', 'same commit as ' || $2::text FROM was
