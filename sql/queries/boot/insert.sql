-- SPDX-License-Identifier: GPL-3.0-or-later
-- Want a boot: $1 commit, $2 build or NULL, $3 job, $4 comparison or NULL, $5 bisection or NULL, $6 runs.
-- One row: id.
INSERT INTO boot (commit, build, job, comparison, bisection, wanted_runs)
VALUES ($1, $2::bigint, $3::bigint, $4::bigint, $5, $6::bigint) RETURNING id
