-- SPDX-License-Identifier: GPL-3.0-or-later
-- Take one ready boot for the machine $1 and the machine with it. $2 owner, $3 lease in seconds.
-- Columns: id, kind, payload, fence, attempts, crashes. No row: nothing to do, or the machine is
-- held or not in good health; then only its own control boots may run. A comparison or bisection stays on the machine that
-- took its first boot, a bisection on several on those that it chose; a boot that has a place on that. A lease that ran out still holds it until the work was given back: its worker
-- may yet renew it.
WITH m AS (
	SELECT name, group_name, health FROM machine
	WHERE name = $1 AND health <> 'retired' AND (lease_until IS NULL OR lease_until < now() AND NOT EXISTS (
		SELECT FROM work WHERE state = 'leased' AND work.fence = machine.fence))
	FOR UPDATE SKIP LOCKED
), shared AS (
	-- No join: in the order of its index this ends at the first that fits, however many wait.
	SELECT id, prio, run_at, (payload->>'boot')::bigint AS boot FROM work
	WHERE state = 'ready' AND kind = 'boot' AND run_at <= now() AND payload->>'machine' IS NULL
		AND payload->>'group' = (SELECT group_name FROM m WHERE health = 'good')
		AND coalesce((SELECT coalesce(b.pinned, c.machine, CASE WHEN $1 = ANY (s.machines) THEN $1 ELSE s.machine END)
			FROM boot b LEFT JOIN comparison c ON c.id = b.comparison
			LEFT JOIN bisection s ON s.id = b.bisection WHERE b.id = (payload->>'boot')::bigint), $1) = $1
	ORDER BY prio DESC, run_at, id
	LIMIT 1
	FOR UPDATE SKIP LOCKED
), own AS (
	SELECT id, prio, run_at, (payload->>'boot')::bigint AS boot FROM work
	WHERE state = 'ready' AND kind = 'boot' AND run_at <= now() AND payload->>'machine' IS NOT NULL
		AND payload->>'machine' = (SELECT name FROM m)
		-- A person may have a hand in it: then only what a person asked for.
		AND (payload->>'reason' = 'asked' OR (SELECT health FROM m) <> 'maintenance')
	ORDER BY prio DESC, run_at, id
	LIMIT 1
	FOR UPDATE SKIP LOCKED
), w AS (
	SELECT x.id, b.comparison, b.bisection FROM (SELECT * FROM own UNION ALL SELECT * FROM shared) x
	LEFT JOIN boot b ON b.id = x.boot
	ORDER BY x.prio DESC, x.run_at, x.id
	LIMIT 1
), pin_c AS (
	UPDATE comparison SET machine = $1 FROM w
	WHERE comparison.id = w.comparison AND (comparison.machine IS NULL OR comparison.machine = $1) RETURNING comparison.id
), pin_s AS (
	UPDATE bisection SET machine = coalesce(machine, $1) FROM w
	WHERE bisection.id = w.bisection AND (bisection.machine IS NULL OR bisection.machine = $1 OR $1 = ANY (bisection.machines))
	RETURNING bisection.id
), u AS (
	UPDATE work SET state = 'leased', lease_owner = $2, fence = nextval('fence_seq'),
		lease_until = now() + $3::float8 * interval '1 s', attempts = attempts + 1, again = false
	-- Another machine that was quicker has it now: no row was pinned, and the work stays ready.
	FROM w WHERE work.id = w.id AND (w.comparison IS NULL OR EXISTS (SELECT FROM pin_c))
		AND (w.bisection IS NULL OR EXISTS (SELECT FROM pin_s))
	RETURNING work.id, work.kind, work.payload, work.fence, work.attempts, work.crashes, work.lease_until
), taken AS (
	UPDATE machine SET lease_owner = $2, lease_until = u.lease_until, fence = u.fence
	FROM u WHERE machine.name = $1
)
SELECT id, kind, payload, fence, attempts, crashes FROM u
