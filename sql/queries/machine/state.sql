-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1 is in state $2 under fence $3.
UPDATE machine SET state = $2, last_seen = now() WHERE name = $1 AND fence = $3::bigint
