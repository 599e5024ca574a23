-- SPDX-License-Identifier: GPL-3.0-or-later
-- Let go the held recipients of mail $1. Columns: addr. No row: none was held.
UPDATE outbox_rcpt SET state = 'queued', next_at = now() WHERE outbox = $1::bigint AND state = 'held' RETURNING addr
