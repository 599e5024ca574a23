-- SPDX-License-Identifier: GPL-3.0-or-later
-- Good builds of the commits $1 (text[]) with kconfig hash $2 and compiler $3, and their lists.
-- Columns: commit, objects, deps, gnu_build_id ('' where there is none).
SELECT commit, coalesce(objects, ''), coalesce(deps, ''), coalesce(gnu_build_id, '') FROM build
WHERE commit = ANY ($1::text[]) AND kconfig_hash = $2 AND compiler = $3 AND variant = '' AND state = 'ok'
ORDER BY finished, id
