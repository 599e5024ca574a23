-- The open bisection of an equal request. $1 dedupe. Columns: id. No row: none is open.
SELECT id FROM bisection
WHERE dedupe = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying')
