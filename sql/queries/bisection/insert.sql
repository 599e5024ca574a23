-- SPDX-License-Identifier: GPL-3.0-or-later
-- A bisection of the bot's own: $1 id, $2 regression, $3 tree, $4 good, $5 bad, $6 job, $7 metric, $8 dedupe, $9 request (JSON).
-- No row: the regression has one.
INSERT INTO bisection (id, regression, tree, good, bad, job, metric, dedupe, request, asked_by)
VALUES ($1, $2, $3, $4, $5, $6::bigint, $7, $8, $9::jsonb, 'kperfbot')
ON CONFLICT (regression) DO NOTHING RETURNING id
