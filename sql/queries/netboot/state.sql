-- SPDX-License-Identifier: GPL-3.0-or-later
-- What machine $1, offered with secret $2, has fetched; for the holder with fence $3. What its agent
-- sent before byte $4 is no longer needed. Columns: events. No row: lease lost, or nothing is offered.
WITH mine AS (
	SELECT netboot.machine, events FROM netboot JOIN machine ON machine.name = netboot.machine
	WHERE netboot.machine = $1 AND secret = $2 AND fence = $3::bigint AND lease_until IS NOT NULL
), gone AS (
	DELETE FROM netboot_chunk c USING mine WHERE c.machine = mine.machine AND c.at_byte < $4::bigint
)
SELECT events FROM mine
