-- SPDX-License-Identifier: GPL-3.0-or-later
-- How many comparisons of heads ended in the last week: each may have been a false report. Columns: count.
SELECT count(*) FROM comparison WHERE finished > now() - interval '7 days' AND purpose <> 'layout' AND state = 'done'
