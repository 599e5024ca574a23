-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1. Columns: uuid, commit, build, job, comparison, bisection, wanted_runs, state.
SELECT uuid, commit, build, job, comparison, bisection, wanted_runs, state FROM boot WHERE id = $1::bigint
