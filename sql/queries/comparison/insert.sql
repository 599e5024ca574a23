-- SPDX-License-Identifier: GPL-3.0-or-later
-- Compare in tree $1, branch $2: $3 base, $4 head, $5 job; $6 purpose, $7 regression or NULL, $8 variant of the builds, $9 target
-- effect (NaN: the configuration's). One row: id.
INSERT INTO comparison (tree, branch, base, head, job, purpose, regression, variant, target)
VALUES ($1, $2, $3, $4, $5::bigint, $6, $7, $8, nullif($9::float8, 'NaN'))
ON CONFLICT (tree, branch, base, head, job, purpose, variant) DO UPDATE SET tree = excluded.tree RETURNING id
