-- SPDX-License-Identifier: GPL-3.0-or-later
-- What git bisect log would print of bisection $1. Columns: text. No row: no such id.
SELECT coalesce(status->>'git_log', '') FROM bisection WHERE id = $1
