-- SPDX-License-Identifier: GPL-3.0-or-later
-- The build of commit $1 with kconfig hash $2 and compiler $3. Columns: id, state, detail, took_s. No row: never asked.
SELECT id, state, coalesce(detail, ''), coalesce(took_s, 0) FROM build
WHERE commit = $1 AND kconfig_hash = $2 AND compiler = $3 AND variant = ''
