-- SPDX-License-Identifier: GPL-3.0-or-later
-- Is a control boot of machine $1 due? $2 seconds between two (0: never), $3 boots between two (0: never). One row when it is.
SELECT m.name FROM machine m JOIN LATERAL (SELECT min(since) AS since FROM control WHERE group_name = m.group_name) c ON c.since IS NOT NULL
WHERE m.name = $1 AND m.health = 'good' AND ($3::bigint > 0 AND m.boots_since_check >= $3::bigint
	OR $2::float8 > 0 AND now() > coalesce(m.last_check, c.since) + $2::float8 * interval '1 s')
