-- SPDX-License-Identifier: GPL-3.0-or-later
-- Is machine $1 held with fence $2? Columns: name. No row: it is not.
SELECT name FROM machine WHERE name = $1 AND fence = $2::bigint AND lease_until IS NOT NULL
