-- SPDX-License-Identifier: GPL-3.0-or-later
-- Give back at once what an earlier process of owner $1 held when it was ended: its state folder is locked,
-- so none lives. Not counted as a crash; work that was to be cancelled is. Columns: id, kind.
WITH lost AS (
	SELECT id, fence FROM work WHERE state = 'leased' AND lease_owner = $1
	FOR UPDATE SKIP LOCKED
), free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL FROM lost WHERE machine.fence = lost.fence
)
UPDATE work SET state = CASE WHEN cancel_asked THEN 'cancelled' ELSE 'ready' END,
	attempts = greatest(attempts - 1, 0), lease_owner = NULL, lease_until = NULL,
	finished = CASE WHEN cancel_asked THEN now() END
FROM lost WHERE work.id = lost.id AND work.fence = lost.fence AND work.state = 'leased'
RETURNING work.id, work.kind
