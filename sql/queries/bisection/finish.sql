-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1 ends in state $2 with result $3 (JSON). One row: id. No row: it had ended.
UPDATE bisection SET state = $2, result = $3::jsonb, finished = now()
WHERE id = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying') RETURNING id
