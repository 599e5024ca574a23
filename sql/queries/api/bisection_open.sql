-- The open bisection of an equal request. $1 and $2 dedupe, of a person and of the bot itself.
-- Columns: id. No row: none is open.
SELECT id FROM bisection
WHERE dedupe IN ($1, $2) AND state IN ('queued', 'checking-ends', 'running', 'verifying')
ORDER BY created LIMIT 1
