-- SPDX-License-Identifier: GPL-3.0-or-later
-- The agent of machine $1 (secret $2) sends the bytes $4 from byte $3 on. They are stored if that is how many
-- there are so far, and if not more than $5 wait for their reader and $6 came in all.
-- Columns: received. No row: not stored; the offer is gone, or its state tells why.
WITH fits AS (
	UPDATE netboot SET received = received + length($4::bytea), events = events | 8, last_seen = now()
	WHERE machine = $1 AND secret = $2 AND received = $3::bigint
		AND received + length($4::bytea) <= $6::bigint
		AND received - coalesce((SELECT min(at_byte) FROM netboot_chunk WHERE machine = $1), received)
			<= $5::bigint
	RETURNING received
), added AS (
	INSERT INTO netboot_chunk (machine, at_byte, data)
	SELECT $1, $3::bigint, $4::bytea FROM fits WHERE length($4::bytea) > 0
)
SELECT received FROM fits
