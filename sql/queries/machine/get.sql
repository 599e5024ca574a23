-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1. Columns: name, group, driver, health, note, drained by, control boots that failed since it was drained.
SELECT name, group_name, driver, health, coalesce(note, ''), coalesce(drained_by, ''),
	(SELECT count(*) FROM machine_event v WHERE v.machine = machine.name AND v.kind IN ('check', 'drift') AND v.at > drained_at)
FROM machine WHERE name = $1
