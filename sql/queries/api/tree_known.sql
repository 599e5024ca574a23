-- SPDX-License-Identifier: GPL-3.0-or-later
-- Has a tree been met? $1 name. Columns: name. No row: not yet.
SELECT name FROM tree WHERE name = $1
