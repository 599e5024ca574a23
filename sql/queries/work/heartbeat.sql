-- SPDX-License-Identifier: GPL-3.0-or-later
-- Renew the leases of the ids $1 (bigint[]) with the fences $2 (bigint[]) for $3 seconds, and those of
-- the machines held with them. Columns: id, cancel_asked. A lease without row is lost.
WITH mine AS (
	SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS t (id, fence)
), machines AS (
	UPDATE machine SET lease_until = now() + $3::float8 * interval '1 s', last_seen = now()
	FROM mine WHERE machine.fence = mine.fence AND machine.lease_until IS NOT NULL
)
UPDATE work SET lease_until = now() + $3::float8 * interval '1 s'
FROM mine WHERE work.id = mine.id AND work.fence = mine.fence AND work.lease_until IS NOT NULL
RETURNING work.id, work.cancel_asked
