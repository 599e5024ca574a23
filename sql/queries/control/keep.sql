-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boot $1 was good: the first such of a group and kernel configuration makes the control build.
INSERT INTO control (group_name, kconfig, commit, build, job)
SELECT j.group_name, j.kconfig, b.commit, b.build, b.job FROM boot b JOIN job j ON j.id = b.job WHERE b.id = $1::bigint
ON CONFLICT (group_name, kconfig) DO NOTHING
