-- SPDX-License-Identifier: GPL-3.0-or-later
-- Change points of series $1, in the order in which they were seen. Columns: id, first, last, rel, p, state, comparison.
SELECT id, first, last, rel, p, state, coalesce(comparison, 0) FROM change_point WHERE series = $1 ORDER BY id
