-- SPDX-License-Identifier: GPL-3.0-or-later
-- Raw output of a run. $1 id. Columns: sha256. No row: no such run, or it printed nothing.
SELECT raw FROM run WHERE id = $1::bigint AND raw IS NOT NULL
