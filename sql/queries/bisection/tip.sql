-- SPDX-License-Identifier: GPL-3.0-or-later
-- The tip of the branch of the regression that bisection $1 is about, unless it is the bad end. Columns: commit. No row: there is none.
SELECT h.commit FROM bisection s JOIN regression r ON r.id = s.regression
JOIN head h ON h.tree = r.tree AND h.branch = r.branch
WHERE s.id = $1 AND h.commit <> s.bad
