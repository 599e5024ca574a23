-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1. Columns: tree, branch, base, head, job, state, look, purpose, regression, variant, target, machine.
SELECT tree, branch, base, head, job, state, look, purpose, coalesce(regression, ''), variant, coalesce(target, 0),
	coalesce(machine, '')
FROM comparison WHERE id = $1::bigint
