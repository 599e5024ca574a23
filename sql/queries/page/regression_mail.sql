-- SPDX-License-Identifier: GPL-3.0-or-later
-- The bytes of the mails about a regression, oldest first. $1 id. Columns: message_id, bytes.
SELECT message_id, bytes FROM outbox WHERE regression = $1 ORDER BY id LIMIT 10
