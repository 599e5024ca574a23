-- SPDX-License-Identifier: GPL-3.0-or-later
-- Compare in tree $1, branch $2: $3 base, $4 head, $5 job. One row: id.
INSERT INTO comparison (tree, branch, base, head, job) VALUES ($1, $2, $3, $4, $5::bigint)
ON CONFLICT (tree, branch, base, head, job) DO UPDATE SET tree = excluded.tree RETURNING id
