-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1. Columns: uuid, commit, build, job, comparison, bisection, wanted_runs, state, whether it measures the control build.
SELECT uuid, commit, build, job, comparison, bisection, wanted_runs, state, purpose = 'control' FROM boot WHERE id = $1::bigint
