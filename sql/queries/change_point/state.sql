-- SPDX-License-Identifier: GPL-3.0-or-later
-- Change point $1 is in state $2 now, by comparison $3 or NULL: as before, with detail $4 or NULL.
UPDATE change_point SET state = $2, comparison = coalesce($3::bigint, comparison), detail = $4, updated = now()
WHERE id = $1::bigint
