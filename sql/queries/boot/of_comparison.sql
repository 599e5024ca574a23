-- SPDX-License-Identifier: GPL-3.0-or-later
-- Boots of comparison $1. Columns: id, commit, state, class, detail.
SELECT id, commit, state, coalesce(class, ''), coalesce(detail, '') FROM boot WHERE comparison = $1::bigint ORDER BY id
