-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1, still open, is in state $2 with status $3 (JSON). One row: id. No row: it had ended.
UPDATE bisection SET state = $2, status = $3::jsonb, started = coalesce(started, now())
WHERE id = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying') RETURNING id
