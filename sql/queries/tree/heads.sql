-- SPDX-License-Identifier: GPL-3.0-or-later
-- Known heads of tree $1, by branch. Columns: branch, commit.
SELECT branch, commit FROM head WHERE tree = $1 ORDER BY branch
