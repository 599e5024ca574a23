-- SPDX-License-Identifier: GPL-3.0-or-later
-- What an open bisection waits for, in words; NULL: for nothing but what it measures or builds now. A machine that goes away wakes
-- nobody, so this is found out when someone asks.
CREATE FUNCTION bisection_waits(bisection) RETURNS text LANGUAGE sql STABLE AS $$
WITH s AS (
	SELECT $1.machine AS pinned, $1.request->>'machine' IS NOT NULL AS chosen, j.group_name FROM job j
	WHERE j.id = $1.job AND $1.finished IS NULL
), m AS (
	SELECT machine.*, health = 'good' AND coalesce(last_seen > now() - interval '10 min', false) AS up FROM machine JOIN s USING (group_name)
), own AS (
	SELECT w.state, w.prio, w.run_at, w.id FROM boot b JOIN work w ON w.kind = 'boot' AND w.dedupe = 'boot:' || b.id AND w.state IN ('ready', 'leased')
	WHERE b.bisection = $1.id AND b.state = 'wanted'
), mine AS (
	SELECT prio, run_at, id FROM own WHERE state = 'ready' ORDER BY prio DESC, run_at, id LIMIT 1
), before AS (
	SELECT count(*) AS n FROM mine, s, work w LEFT JOIN boot b ON b.id = (w.payload->>'boot')::bigint
	LEFT JOIN comparison c ON c.id = b.comparison LEFT JOIN bisection o ON o.id = b.bisection
	WHERE w.kind = 'boot' AND w.state = 'ready' AND coalesce(w.payload->>'machine', s.pinned) = s.pinned
		AND w.payload->>'group' = s.group_name AND coalesce(b.pinned, c.machine, o.machine, s.pinned) = s.pinned
		AND b.bisection IS DISTINCT FROM $1.id
		AND (-w.prio, w.run_at, w.id) < (-mine.prio, mine.run_at, mine.id)
)
SELECT CASE
	WHEN NOT EXISTS (SELECT FROM m) THEN 'waits: there is no machine in group ' || s.group_name
	WHEN s.pinned IS NULL AND NOT EXISTS (SELECT FROM m WHERE up) THEN 'waits: no machine of group ' || s.group_name || ' is up'
	WHEN NOT p.up THEN 'waits for machine ' || s.pinned || ', ' || CASE
			WHEN p.health = 'suspect' THEN 'which is looked after'
			WHEN p.health <> 'good' THEN 'which is in state ' || p.health
			ELSE 'not seen since ' || coalesce(to_char(p.last_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), 'it was configured') END
		|| CASE WHEN s.chosen THEN ' and was asked for'
			WHEN p.health = 'suspect' THEN ''
			WHEN EXISTS (SELECT FROM m o WHERE o.up AND o.name <> p.name) THEN '; it will move to another machine of the group'
			ELSE '; no other machine of group ' || s.group_name || ' is up' END
	WHEN NOT EXISTS (SELECT FROM mine) OR EXISTS (SELECT FROM own WHERE state = 'leased') THEN NULL
	WHEN p.lease_until > now() THEN 'waits for its turn on machine ' || s.pinned ||
		CASE (SELECT n FROM before) WHEN 0 THEN ', which is at work for others'
			WHEN 1 THEN ', 1 boot of others is before it'
			ELSE ', ' || (SELECT n FROM before) || ' boots of others are before it' END
	END
FROM s LEFT JOIN m p ON p.name = s.pinned
$$;
