-- SPDX-License-Identifier: GPL-3.0-or-later
-- $5 are the bytes for the agent of machine $1 (secret $2, fence $3) from byte $4 on; repeating it changes
-- nothing. Columns: machine. No row: lease lost, or nothing is offered.
UPDATE netboot SET to_agent = substring(to_agent FROM 1 FOR $4::integer) || $5::bytea
FROM machine
WHERE machine = $1 AND secret = $2 AND machine.name = $1 AND machine.fence = $3::bigint
	AND machine.lease_until IS NOT NULL
RETURNING machine
