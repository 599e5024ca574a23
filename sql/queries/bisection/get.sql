-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1. Columns: regression, tree, good, bad, job, metric, state, request, status, machine.
SELECT coalesce(regression, ''), tree, good, bad, job, metric, state, request, status, coalesce(machine, '')
FROM bisection WHERE id = $1
