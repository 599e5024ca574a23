-- SPDX-License-Identifier: GPL-3.0-or-later
-- Is there a metric of this name? $1 name. Columns: unit. No row: none.
SELECT unit FROM metric WHERE name = $1
