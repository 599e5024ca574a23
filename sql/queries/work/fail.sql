-- SPDX-License-Identifier: GPL-3.0-or-later
-- Row $1 with fence $2 failed for reason $3. Ready again in $4 seconds while fewer than $5 attempts were made,
-- or, with fresh attempts, when it was asked for anew meanwhile; else failed. Columns: state. No row: the lease
-- is lost.
WITH free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL WHERE fence = $2::bigint
)
UPDATE work SET state = CASE WHEN again OR attempts < $5::bigint THEN 'ready' ELSE 'failed' END,
	run_at = now() + $4::float8 * interval '1 s', last_error = $3, again = false,
	attempts = CASE WHEN attempts < $5::bigint OR NOT again THEN attempts ELSE 0 END,
	finished = CASE WHEN again OR attempts < $5::bigint THEN NULL ELSE now() END,
	lease_owner = NULL, lease_until = NULL
WHERE id = $1::bigint AND fence = $2::bigint AND state = 'leased'
RETURNING state
