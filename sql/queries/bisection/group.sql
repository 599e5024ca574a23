-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machines of the group of job $1. Columns: name, health, whether a role lab looked after it in the last ten minutes.
SELECT m.name, m.health, m.last_seen > now() - interval '10 min' FROM machine m JOIN job j ON j.group_name = m.group_name
WHERE j.id = $1::bigint AND m.health <> 'retired' ORDER BY m.name
