-- SPDX-License-Identifier: GPL-3.0-or-later
-- The series of tree $1, branch $2, job $3, machine $4, metric $5; $6 is its id if it is new. One row: id.
INSERT INTO series (tree, branch, job, machine, metric, id) VALUES ($1, $2, $3::bigint, $4, $5, $6)
ON CONFLICT (tree, branch, job, machine, metric) DO UPDATE SET tree = excluded.tree RETURNING id
