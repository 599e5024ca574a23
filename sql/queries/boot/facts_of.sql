-- SPDX-License-Identifier: GPL-3.0-or-later
-- The newest good boot of job $1 and commit $2. Columns: machine, accel, facts. No row: there is none.
SELECT coalesce(machine, ''), coalesce(accel, ''), coalesce(facts, '{}') FROM boot
WHERE job = $1::bigint AND commit = $2 AND state = 'done' AND NOT excluded AND purpose <> 'layout' ORDER BY finished DESC LIMIT 1
