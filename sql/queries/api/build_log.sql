-- SPDX-License-Identifier: GPL-3.0-or-later
-- Log of a build. $1 id. Columns: sha256. No row: no such build, or no log yet.
SELECT log FROM build WHERE id = $1::bigint AND log IS NOT NULL
