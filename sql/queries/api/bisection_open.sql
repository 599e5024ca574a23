-- SPDX-License-Identifier: GPL-3.0-or-later
-- The open bisection of an equal request. $1 and $2 dedupe, of a person and of the bot itself.
-- Columns: id. No row: none is open.
SELECT id FROM bisection
WHERE (dedupe = $1 OR request->>'range' = $2 AND regression IS NOT NULL) AND state IN ('queued', 'checking-ends', 'running', 'verifying')
ORDER BY created LIMIT 1
