-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regression $1 is the same as $2: its culprit is the same commit, or the same change under another hash.
WITH was AS (
	SELECT id, state FROM regression WHERE id = $1 FOR UPDATE
), moved AS (
	UPDATE regression SET state = 'dup', dup_of = $2, updated = now() WHERE id = $1
)
INSERT INTO regression_history (regression, from_state, to_state, by, why)
SELECT was.id, was.state, 'dup', 'kperfbot', CASE WHEN r.culprit <> o.culprit
	THEN 'same change, under another hash, as ' ELSE 'same commit as ' END || $2::text
FROM was JOIN regression r ON r.id = was.id JOIN regression o ON o.id = $2
