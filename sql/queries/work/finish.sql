-- SPDX-License-Identifier: GPL-3.0-or-later
-- Row $1 with fence $2 is done, or ready once more when it was asked for anew meanwhile; the machine held
-- with it is free. One row: id. No row: the lease is lost.
WITH free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL WHERE fence = $2::bigint
)
UPDATE work SET state = CASE WHEN again THEN 'ready' ELSE 'done' END, again = false,
	finished = CASE WHEN again THEN NULL ELSE now() END, attempts = CASE WHEN again THEN 0 ELSE attempts END,
	crashes = CASE WHEN again THEN 0 ELSE crashes END,
	lease_owner = NULL, lease_until = NULL, last_error = NULL
WHERE id = $1::bigint AND fence = $2::bigint AND state = 'leased'
RETURNING id
