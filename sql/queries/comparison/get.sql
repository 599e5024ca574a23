-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1. Columns: tree, branch, base, head, job, state, look.
SELECT tree, branch, base, head, job, state, look FROM comparison WHERE id = $1::bigint
