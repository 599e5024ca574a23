-- SPDX-License-Identifier: GPL-3.0-or-later
-- Bisection $1. Columns: regression, tree, good, bad, job, metric, state, request, status, machine, machines (JSON).
SELECT coalesce(regression, ''), tree, good, bad, job, metric, state, request, status, coalesce(machine, ''), array_to_json(machines)
FROM bisection WHERE id = $1
