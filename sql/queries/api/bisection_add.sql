-- SPDX-License-Identifier: GPL-3.0-or-later
-- Ask for a bisection. $1 id, $2 tree, $3 good, $4 bad, $5 job, $6 metric or NULL (that of the job),
-- $7 dedupe, $8 request (json), $9 asked_by, $10 machine or NULL. Columns: id. No row: an equal one is open.
INSERT INTO bisection (id, tree, good, bad, job, metric, dedupe, request, asked_by, machine)
SELECT $1, $2, $3, $4, j.id, COALESCE($6, j.metric), $7, $8::jsonb, $9, $10 FROM job j WHERE j.id = $5::bigint
ON CONFLICT (dedupe) WHERE state IN ('queued', 'checking-ends', 'running', 'verifying') DO NOTHING
RETURNING id
