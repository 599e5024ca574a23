-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1 ends: $2 state, $3 verdict or NULL, $4 detail or NULL. One row: id. No row: it had ended.
UPDATE comparison SET state = $2, verdict = coalesce($3, verdict), detail = $4, finished = now()
WHERE id = $1::bigint AND state = 'open' RETURNING id
