-- SPDX-License-Identifier: GPL-3.0-or-later
-- Console of a boot. $1 id. Columns: sha256. No row: no such boot, or none was kept.
SELECT console FROM boot WHERE id = $1::bigint AND console IS NOT NULL
