-- SPDX-License-Identifier: GPL-3.0-or-later
-- Mail $1 goes to $2 for reason $3; state $4 is held or queued.
INSERT INTO outbox_rcpt (outbox, addr, reason, state) VALUES ($1::bigint, $2, $3, $4)
