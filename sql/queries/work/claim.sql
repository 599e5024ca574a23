-- SPDX-License-Identifier: GPL-3.0-or-later
-- Take up to $4 ready rows of the kinds $1 (text[]) for owner $2, lease of $3 seconds.
-- Columns: id, kind, payload, fence, attempts, crashes. No row: nothing to do.
-- MATERIALIZED: as a subquery of the UPDATE the choice could be made once for each row of the table.
WITH chosen AS MATERIALIZED (
	SELECT id FROM work
	WHERE state = 'ready' AND kind = ANY ($1::text[]) AND run_at <= now()
	ORDER BY prio DESC, run_at, id
	LIMIT $4::bigint
	FOR UPDATE SKIP LOCKED)
UPDATE work SET state = 'leased', lease_owner = $2, lease_until = now() + $3::float8 * interval '1 s',
	fence = nextval('fence_seq'), attempts = attempts + 1, again = false
FROM chosen WHERE work.id = chosen.id
RETURNING work.id, kind, payload, fence, attempts, crashes
