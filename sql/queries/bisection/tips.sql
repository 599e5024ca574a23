-- SPDX-License-Identifier: GPL-3.0-or-later
-- Branches whose tip bisection $1 may measure, the best first: that of its regression, or that which was named as the bad end; then tips
-- that are not the bad end itself, the main branch, and what moved last. Columns: branch, commit, own (of the regression). At most 16,
-- and one whose tip is the bad end, which there may be behind any number of others.
WITH tip AS (
	SELECT h.branch, h.commit, r.id IS NOT NULL AS own, h.commit = s.bad AS bad, row_number() OVER (
		PARTITION BY h.commit = s.bad
		ORDER BY r.id IS NULL, h.branch <> coalesce(s.request->>'bad', ''), h.branch NOT IN ('master', 'main'), h.since DESC, h.branch
	) AS n
	FROM bisection s JOIN head h ON h.tree = s.tree
	LEFT JOIN regression r ON r.id = s.regression AND r.tree = h.tree AND r.branch = h.branch
	WHERE s.id = $1
)
SELECT branch, commit, own FROM tip WHERE n <= CASE WHEN bad THEN 1 ELSE 16 END ORDER BY own DESC, bad, n
