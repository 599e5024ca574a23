-- SPDX-License-Identifier: GPL-3.0-or-later
-- The build of commit $1 with kconfig $2, its hash $3, compiler $4 and variant $5; made when there is none.
-- One row: id, state.
INSERT INTO build (commit, kconfig, kconfig_hash, compiler, variant) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (commit, kconfig_hash, compiler, variant) DO UPDATE SET kconfig = build.kconfig
RETURNING id, state
