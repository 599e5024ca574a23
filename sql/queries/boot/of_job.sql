-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots of job $1 of the commits $2 (text[]) in the order in which they ran. Columns: id, commit, state, class, bisection,
-- comparison, detail, took_s, excluded.
SELECT id, commit, state, coalesce(class, ''), coalesce(bisection, ''), coalesce(comparison, 0), coalesce(detail, ''),
	coalesce(took_s, 0), excluded
FROM boot WHERE job = $1::bigint AND commit = ANY ($2::text[]) ORDER BY finished NULLS LAST, id
