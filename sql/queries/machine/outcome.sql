-- SPDX-License-Identifier: GPL-3.0-or-later
-- A boot ended on machine $1: $2 'ok', 'fault' (of the machine or its wiring) or 'failed' (kernel or machine, nobody knows yet),
-- $3 why not, NULL when ok. The third fault in a row quarantines the machine; the second unproven failure in a row makes it
-- suspect, and only its control build may run; where there is none yet nothing could tell, and it goes on. Columns: health, whether it changed.
WITH old AS (
	SELECT name, group_name, health, faults, unproven FROM machine WHERE name = $1 FOR UPDATE
), new AS (
	SELECT name, health AS was,
		CASE $2 WHEN 'ok' THEN 0 WHEN 'fault' THEN faults + 1 ELSE faults END AS faults,
		CASE $2 WHEN 'ok' THEN 0 WHEN 'failed' THEN unproven + 1 ELSE unproven END AS unproven,
		CASE WHEN $2 = 'fault' AND faults >= 2 AND health IN ('good', 'suspect') THEN 'quarantined'
			WHEN $2 = 'failed' AND unproven >= 1 AND health = 'good' AND EXISTS (SELECT FROM control c WHERE c.group_name = old.group_name)
				THEN 'suspect' ELSE health END AS health
	FROM old
), event AS (
	INSERT INTO machine_event (machine, kind, by, text)
	SELECT name, CASE WHEN health = was THEN 'fault' WHEN health = 'suspect' THEN 'suspect' ELSE 'drain' END, 'kperfbot', $3
	FROM new WHERE $2 = 'fault' OR health <> was
), done AS (
	UPDATE machine SET faults = new.faults, unproven = new.unproven, health = new.health, state = 'idle', last_seen = now(),
		boots_since_check = boots_since_check + 1,
		note = CASE WHEN new.health = 'good' THEN NULL WHEN new.health <> was THEN $3 ELSE note END,
		drained_by = CASE WHEN new.health = 'good' THEN NULL WHEN new.health <> was THEN 'kperfbot' ELSE drained_by END,
		drained_at = CASE WHEN new.health = 'good' THEN NULL WHEN new.health <> was THEN now() ELSE drained_at END
	FROM new WHERE machine.name = new.name
)
SELECT health, health <> was FROM new
