-- SPDX-License-Identifier: GPL-3.0-or-later
-- Kernel configuration of a build. $1 id. Columns: sha256. No row: no such build, or none was kept.
SELECT config FROM build WHERE id = $1::bigint AND config IS NOT NULL
