-- SPDX-License-Identifier: GPL-3.0-or-later
-- Begin to send mail $1 to $2. Columns: bytes, state before, attempts,
-- seconds since the first try, regression. No row: nothing to send.
-- A row found in state sending was cut off: nobody knows whether the server has it, so it is unsure.
WITH was AS (
	SELECT outbox, addr, state FROM outbox_rcpt
	WHERE outbox = $1::bigint AND addr = $2 AND state IN ('queued', 'deferred', 'sending', 'unsure') FOR UPDATE
)
UPDATE outbox_rcpt r SET state = 'sending', attempts = r.attempts + 1, first_try = coalesce(r.first_try, now())
FROM was, outbox o WHERE r.outbox = was.outbox AND r.addr = was.addr AND o.id = r.outbox
RETURNING o.bytes, was.state, r.attempts, extract(epoch FROM now() - r.first_try), o.regression
