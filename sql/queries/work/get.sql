-- SPDX-License-Identifier: GPL-3.0-or-later
-- The row $1 while it is leased with fence $2. Columns: kind, payload, attempts, crashes,
-- cancel_asked. No row: the lease is lost.
SELECT kind, payload, attempts, crashes, cancel_asked FROM work
WHERE id = $1::bigint AND fence = $2::bigint AND state = 'leased'
