-- SPDX-License-Identifier: GPL-3.0-or-later
-- Mail $1 to $2: $3 state, $4 SMTP code, $5 answer. $6 seconds until the next try.
UPDATE outbox_rcpt SET state = $3, code = $4::bigint, answer = $5, next_at = now() + $6::float8 * interval '1 s',
	sent = CASE WHEN $3 = 'sent' THEN now() END
WHERE outbox = $1::bigint AND addr = $2 AND state = 'sending'
