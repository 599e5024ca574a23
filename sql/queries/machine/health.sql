-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1 gets health $2 from $3 (a name, or kperfbot) because of $4, kept as an event of kind $5; $6 true: its control build
-- has just been measured. One row: the health before. No row: there is no such machine.
WITH old AS (
	SELECT name, health FROM machine WHERE name = $1 FOR UPDATE
), event AS (
	INSERT INTO machine_event (machine, kind, by, text) SELECT name, $5, $3, $4 FROM old
), done AS (
	UPDATE machine SET health = $2, note = CASE WHEN $2 = 'good' THEN NULL ELSE $4 END,
		drained_by = CASE WHEN $2 = 'good' THEN NULL ELSE $3 END,
		drained_at = CASE WHEN $2 = 'good' THEN NULL WHEN $2 = old.health THEN coalesce(drained_at, now()) ELSE now() END,
		faults = 0, unproven = CASE WHEN $2 = 'good' THEN 0 ELSE unproven END,
		last_check = CASE WHEN $6::boolean THEN now() ELSE last_check END,
		boots_since_check = CASE WHEN $6::boolean THEN 0 ELSE boots_since_check END
	FROM old WHERE machine.name = old.name
)
SELECT health FROM old
