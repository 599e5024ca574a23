-- SPDX-License-Identifier: GPL-3.0-or-later
-- A mail: $1 regression, $2 kind, $3 number, $4 Message-ID, $5 subject, $6 bytes. No row: it was written before. One row: id.
INSERT INTO outbox (regression, kind, seq, message_id, subject, bytes)
VALUES ($1, $2, $3::bigint, $4, $5, $6::bytea) ON CONFLICT (regression, kind, seq) DO NOTHING RETURNING id
