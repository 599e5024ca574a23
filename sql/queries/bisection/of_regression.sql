-- The bisection of regression $1. Columns: id, good, bad, result, status.
SELECT id, good, bad, coalesce(result, '{}'), status FROM bisection WHERE regression = $1
