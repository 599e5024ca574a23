-- SPDX-License-Identifier: GPL-3.0-or-later
-- Regression $1. Columns: state, tree, branch, job, comparison, metric, rel, lo, hi, level, base, head, culprit, p, class, parent.
SELECT state, tree, branch, job, coalesce(comparison, 0), metric, rel, lo, hi, level, base, head, coalesce(culprit, ''),
	coalesce(p, 0), class, coalesce(parent, '') FROM regression WHERE id = $1
