-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1, which was to confirm a step, has ended: $2 the state that this gives, $3 what it said.
UPDATE change_point SET state = $2, detail = $3, updated = now() WHERE comparison = $1::bigint AND state = 'confirming'
