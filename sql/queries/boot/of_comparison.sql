-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots of comparison $1; those with another version of the suite, or another accelerator, than its newest do not count.
-- $2 (text[]) classes that kernel or machine may be to blame for. Columns: id, commit, state, class, detail, excluded, unproven (
-- it failed and the machine has not given a good boot of another build since though it could).
SELECT b.id, b.commit, b.state, coalesce(b.class, ''), coalesce(b.detail, ''),
	b.excluded OR b.state = 'done' AND concat(b.suite_version, ' ', split_part(b.accel, ' ', 1)) <>
		(SELECT concat(o.suite_version, ' ', split_part(o.accel, ' ', 1)) FROM boot o
		WHERE o.comparison = b.comparison AND o.state = 'done' AND NOT o.excluded ORDER BY o.finished DESC LIMIT 1),
	b.state = 'failed' AND b.class = ANY ($2::text[]) AND b.control_boot IS NULL AND NOT b.excluded
	AND EXISTS (SELECT FROM control c JOIN machine m USING (group_name) WHERE m.name = b.machine AND c.build IS DISTINCT FROM b.build)
FROM boot b WHERE b.comparison = $1::bigint ORDER BY b.id
