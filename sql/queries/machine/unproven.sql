-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots on machine $1 that failed with one of the classes $2 (text[]), and no good boot there since. Columns: n.
SELECT count(*) FROM boot
WHERE machine = $1 AND state = 'failed' AND class = ANY ($2::text[]) AND control_boot IS NULL AND NOT excluded
