-- SPDX-License-Identifier: GPL-3.0-or-later
-- Steps of bisection $1. Columns: n, commit, verdict, p_bad, rel, boots, runs, left_eff, reason, detail, took_s.
SELECT n, commit, verdict, p_bad, rel, boots, runs, left_eff, coalesce(reason, ''), coalesce(detail, ''), took_s
FROM bisect_step WHERE bisection = $1 ORDER BY n
