-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1, still open, may make $2 runs more, up to a hundred million; $3 boots are its limit if it was never told one. Columns:
-- limit. No row: it had ended.
UPDATE bisection SET request = jsonb_set(request, '{max_runs}', to_jsonb(least(100000000, coalesce((request->>'max_runs')::bigint,
	(status->'runs'->>'max')::bigint, $3::bigint * (SELECT runs_per_boot FROM job j WHERE j.id = bisection.job)) + $2::bigint)))
WHERE id = $1 AND state IN ('queued', 'checking-ends', 'running', 'verifying') RETURNING request->>'max_runs'
