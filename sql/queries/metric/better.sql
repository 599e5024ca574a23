-- SPDX-License-Identifier: GPL-3.0-or-later
-- Which way metric $1 is better. Columns: better. No row: nobody has measured it yet.
SELECT better FROM metric WHERE name = $1
