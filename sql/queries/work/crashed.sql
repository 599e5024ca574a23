-- SPDX-License-Identifier: GPL-3.0-or-later
-- The worker of row $1 with fence $2 died without a word ($3: how). Ready again, quarantined at the third
-- crash, or cancelled when that was asked for. Columns: state. No row: it had finished.
WITH free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL WHERE fence = $2::bigint
)
UPDATE work SET state = CASE WHEN cancel_asked THEN 'cancelled' WHEN crashes >= 2 THEN 'quarantined' ELSE 'ready' END,
	crashes = crashes + 1, attempts = greatest(attempts - 1, 0), last_error = $3, lease_owner = NULL,
	lease_until = NULL, run_at = now() + power(2, crashes) * interval '1 s',
	finished = CASE WHEN cancel_asked OR crashes >= 2 THEN now() END
WHERE id = $1::bigint AND fence = $2::bigint AND state = 'leased'
RETURNING state
