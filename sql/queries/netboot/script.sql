-- SPDX-License-Identifier: GPL-3.0-or-later
-- The machine with address $1 asks for its script; $2 are bits to note. Each asking counts from bit 8
-- on, to 65,535. Columns: machine, secret, append, events as they were before. No row: nothing is offered.
UPDATE netboot n SET last_seen = now(),
	events = (old.events | $2::integer | 1) + CASE WHEN old.events < 16776960 THEN 256 ELSE 0 END
FROM (SELECT machine, events FROM netboot WHERE mac = $1 FOR UPDATE) old
WHERE n.machine = old.machine
RETURNING n.machine, n.secret, n.append, old.events
