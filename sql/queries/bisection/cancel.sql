-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1, still open, is not wanted any more: $2 says who and why. One row: id. No row: it had ended.
UPDATE bisection SET state = 'cancelled', finished = now(), result = jsonb_build_object('text', $2::text)
WHERE id = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying') RETURNING id
