-- Give back at once what an earlier process of owner $1 held when it was ended: its state folder is locked,
-- so none lives. Not counted as a crash. Columns: id, kind.
WITH lost AS (
	SELECT id, fence FROM work WHERE state = 'leased' AND lease_owner = $1
	FOR UPDATE SKIP LOCKED
), free AS (
	UPDATE machine SET lease_owner = NULL, lease_until = NULL FROM lost WHERE machine.fence = lost.fence
)
UPDATE work SET state = 'ready', attempts = greatest(attempts - 1, 0), lease_owner = NULL, lease_until = NULL
FROM lost WHERE work.id = lost.id AND work.fence = lost.fence AND work.state = 'leased'
RETURNING work.id, work.kind
