-- SPDX-License-Identifier: GPL-3.0-or-later
-- Row $1 with fence $2 is ready again in $3 seconds, with fresh budgets. $4: reason or NULL.
-- One row: id. No row: the lease is lost.
WITH free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL WHERE fence = $2::bigint
)
UPDATE work SET state = 'ready', run_at = CASE WHEN again THEN now() ELSE now() + $3::float8 * interval '1 s' END,
	again = false, attempts = 0, crashes = 0, lease_owner = NULL, lease_until = NULL, last_error = $4
WHERE id = $1::bigint AND fence = $2::bigint AND state = 'leased'
RETURNING id
