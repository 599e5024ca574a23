-- SPDX-License-Identifier: GPL-3.0-or-later
-- Commits by their first hex digits. $1 digits. Columns: hash, subject. At most three rows.
SELECT hash, subject FROM commit WHERE hash LIKE $1 || '%' LIMIT 3
