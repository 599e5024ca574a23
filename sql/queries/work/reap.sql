-- SPDX-License-Identifier: GPL-3.0-or-later
-- Give back rows whose lease has run out, with the fence that was read. A third lost lease quarantines; work
-- that was to be cancelled is.
-- Columns: id, kind, state.
WITH lost AS (
	SELECT id, fence FROM work WHERE state = 'leased' AND lease_until < now()
	FOR UPDATE SKIP LOCKED
), free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL FROM lost WHERE machine.fence = lost.fence
)
UPDATE work SET state = CASE WHEN cancel_asked THEN 'cancelled' WHEN crashes >= 2 THEN 'quarantined' ELSE 'ready' END,
	crashes = crashes + 1, attempts = greatest(attempts - 1, 0), last_error = 'lease lost', lease_owner = NULL,
	lease_until = NULL, finished = CASE WHEN cancel_asked OR crashes >= 2 THEN now() END
FROM lost WHERE work.id = lost.id AND work.fence = lost.fence AND work.state = 'leased'
RETURNING work.id, work.kind, work.state
