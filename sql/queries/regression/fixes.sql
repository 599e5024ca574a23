-- SPDX-License-Identifier: GPL-3.0-or-later
-- Commits that claim to fix the culprit of regression $1. Columns: json, an array, the newest commit first; measured: is there a good
-- boot of its job with that commit, or with a head that has it?
SELECT coalesce(json_agg(json_build_object('commit', f.commit, 'title', c.subject, 'says', f.says,
	'by_title', f.by_title, 'branch', r.branch, 'commit_time', c.commit_time, 'seen', f.seen,
	'measured', EXISTS (SELECT 1 FROM boot b WHERE b.job = r.job AND b.commit IN (f.commit, f.tip)
		AND b.state = 'done' AND b.purpose = 'measure' AND NOT b.excluded))
	ORDER BY c.commit_time DESC, f.commit), '[]'::json)
FROM regression_fix f JOIN regression r ON r.id = f.regression JOIN commit c ON c.hash = f.commit
WHERE f.regression = $1
