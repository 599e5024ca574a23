-- SPDX-License-Identifier: GPL-3.0-or-later
-- Take one ready boot for the machine $1 and the machine with it. $2 owner, $3 lease in seconds.
-- Columns: id, kind, payload, fence, attempts, crashes. No row: nothing to do, or the machine is
-- held or not in good health. A lease that ran out still holds it until the work was given back: its worker
-- may yet renew it.
WITH m AS (
	SELECT name, group_name FROM machine
	WHERE name = $1 AND health = 'good' AND (lease_until IS NULL OR lease_until < now() AND NOT EXISTS (
		SELECT FROM work WHERE state = 'leased' AND work.fence = machine.fence))
	FOR UPDATE SKIP LOCKED
), w AS (
	SELECT work.id FROM work JOIN m ON work.payload->>'group' = m.group_name
	WHERE work.state = 'ready' AND work.kind = 'boot' AND work.run_at <= now()
	ORDER BY work.prio DESC, work.run_at, work.id
	LIMIT 1
	FOR UPDATE OF work SKIP LOCKED
), u AS (
	UPDATE work SET state = 'leased', lease_owner = $2, fence = nextval('fence_seq'),
		lease_until = now() + $3::float8 * interval '1 s', attempts = attempts + 1, again = false
	FROM w WHERE work.id = w.id
	RETURNING work.id, work.kind, work.payload, work.fence, work.attempts, work.crashes, work.lease_until
), taken AS (
	UPDATE machine SET lease_owner = $2, lease_until = u.lease_until, fence = u.fence
	FROM u WHERE machine.name = $1
)
SELECT id, kind, payload, fence, attempts, crashes FROM u
