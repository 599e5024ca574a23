-- SPDX-License-Identifier: GPL-3.0-or-later
-- Build $1. Columns: commit, kconfig, kconfig_hash, compiler, state, detail, image, gnu_build_id, variant.
SELECT commit, kconfig, kconfig_hash, compiler, state, coalesce(detail, ''), coalesce(image, ''),
	coalesce(gnu_build_id, ''), variant FROM build WHERE id = $1::bigint
