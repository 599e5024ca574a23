-- SPDX-License-Identifier: GPL-3.0-or-later
-- Want a boot: $1 commit, $2 build or NULL, $3 job, $4 comparison or NULL, $5 bisection or NULL, $6 runs, $7 the only machine that may take it
-- or NULL. Boots of a comparison of layouts
-- are of other builds, and nothing else counts them. -- One row: id.
INSERT INTO boot (commit, build, job, comparison, bisection, wanted_runs, pinned, purpose)
VALUES ($1, $2::bigint, $3::bigint, $4::bigint, $5, $6::bigint, $7,
	CASE (SELECT purpose FROM comparison WHERE id = $4::bigint) WHEN 'layout' THEN 'layout' ELSE 'measure' END) RETURNING id
