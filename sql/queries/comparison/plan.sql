-- SPDX-License-Identifier: GPL-3.0-or-later
-- Comparison $1: what its looks can see, known before they are made: $2 (jsonb).
UPDATE comparison SET plan = $2::jsonb WHERE id = $1::bigint AND state = 'open'
