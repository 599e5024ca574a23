-- SPDX-License-Identifier: GPL-3.0-or-later
-- Builds of the commits $1 (text[]) with kconfig hash $2 and compiler $3 that have ended. Columns: commit, state, detail, took_s.
SELECT commit, state, coalesce(detail, ''), coalesce(took_s, 0) FROM build
WHERE commit = ANY ($1::text[]) AND kconfig_hash = $2 AND compiler = $3 AND variant = '' AND state <> 'wanted'
ORDER BY finished
