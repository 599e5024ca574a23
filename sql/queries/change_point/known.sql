-- SPDX-License-Identifier: GPL-3.0-or-later
-- A comparison of tree $1, branch $2, job $3 that found a change at one of the heads $4 (text[]), the newest first.
-- Columns: id, verdict. No row: none has.
SELECT id, verdict FROM comparison
WHERE tree = $1 AND branch = $2 AND job = $3::bigint AND purpose = 'head' AND head = ANY ($4::text[])
	AND state = 'done' AND verdict IN ('regression', 'improvement', 'change')
ORDER BY id DESC LIMIT 1
