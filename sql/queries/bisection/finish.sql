-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1 ends in state $2 with result $3 (JSON), if it may still make $4 runs (-1: it was never told how many). One row: id. No
-- row: it had ended, or was extended meanwhile.
UPDATE bisection SET state = $2, result = $3::jsonb, finished = now()
WHERE id = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying') AND coalesce((request->>'max_runs')::bigint, -1) = $4::bigint
RETURNING id
