-- SPDX-License-Identifier: GPL-3.0-or-later
-- Is there a job of name $1, now or in the past? Columns: 1. No row: there was never one.
SELECT 1 FROM job WHERE name = $1 LIMIT 1
