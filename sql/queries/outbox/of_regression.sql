-- SPDX-License-Identifier: GPL-3.0-or-later
-- The mail of regression $1, kind $2, with the largest number. Columns: id, bytes, recipients held, recipients in all. No row: none.
SELECT o.id, o.bytes, (SELECT count(*) FROM outbox_rcpt r WHERE r.outbox = o.id AND r.state = 'held'),
	(SELECT count(*) FROM outbox_rcpt r WHERE r.outbox = o.id)
FROM outbox o WHERE o.regression = $1 AND o.kind = $2 ORDER BY o.seq DESC LIMIT 1
