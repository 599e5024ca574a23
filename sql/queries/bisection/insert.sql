-- SPDX-License-Identifier: GPL-3.0-or-later
-- A bisection of the bot's own: $1 id, $2 regression, $3 tree, $4 good, $5 bad, $6 job, $7 metric, $8 dedupe, $9 request (JSON).
-- It goes on where the regression was seen. No row: the regression has one.
INSERT INTO bisection (id, regression, tree, good, bad, job, metric, dedupe, request, asked_by, machine)
SELECT $1, $2, $3, $4, $5, $6::bigint, $7, $8, $9::jsonb, 'kperfbot',
	(SELECT m.name FROM regression r JOIN comparison c ON c.id = r.comparison JOIN machine m ON m.name = c.machine
		WHERE r.id = $2 AND m.health IN ('good', 'suspect'))
ON CONFLICT (regression) DO NOTHING RETURNING id
