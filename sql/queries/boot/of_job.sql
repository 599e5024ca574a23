-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots of job $1 of the commits $2 (text[]) in the order in which they ran; $3 machine or NULL: those that ran elsewhere, or with
-- another version of the suite or another accelerator than the machine's newest, are left out; $4 (text[]) as for of_comparison. Columns: id, commit, state,
-- class, bisection, comparison, detail, took_s, excluded, unproven, machine, place.
SELECT b.id, b.commit, b.state, coalesce(b.class, ''), coalesce(b.bisection, ''), coalesce(b.comparison, 0), coalesce(b.detail, ''),
	coalesce(b.took_s, 0), b.excluded,
	b.state = 'failed' AND b.class = ANY ($4::text[]) AND b.control_boot IS NULL AND NOT b.excluded
	AND EXISTS (SELECT FROM control c JOIN machine m USING (group_name) WHERE m.name = b.machine AND c.build IS DISTINCT FROM b.build),
	coalesce(b.machine, ''), coalesce(b.pinned, '')
FROM boot b
WHERE b.job = $1::bigint AND b.commit = ANY ($2::text[]) AND b.purpose = 'measure'
	AND ($3::text IS NULL OR b.machine IS NULL OR b.machine = $3)
	AND ($3::text IS NULL OR b.state <> 'done' OR concat_ws(' ', b.suite_version, split_part(b.accel, ' ', 1)) =
		(SELECT concat_ws(' ', o.suite_version, split_part(o.accel, ' ', 1)) FROM boot o
		WHERE o.job = $1::bigint AND o.machine = $3 AND o.state = 'done' AND NOT o.excluded AND o.purpose = 'measure'
		ORDER BY o.finished DESC LIMIT 1))
ORDER BY b.finished NULLS LAST, b.id
