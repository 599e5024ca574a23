-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots of commit $2 that bisection $1 still waits for from a certain machine. Columns: machine, boots.
SELECT pinned, count(*) FROM boot WHERE bisection = $1 AND commit = $2 AND state = 'wanted' AND pinned IS NOT NULL GROUP BY pinned
