-- SPDX-License-Identifier: GPL-3.0-or-later
-- Offer machine $1 with address $2 and secret $3 the command line $4, kernel $5 and initramfs $6 (both
-- sha256), for the holder with fence $7; what was offered before is withdrawn already. Columns: machine.
-- No row: the machine is no longer held with this fence.
INSERT INTO netboot (machine, mac, secret, append, kernel, initrd)
SELECT name, $2, $3, $4, $5, $6 FROM machine
WHERE name = $1 AND fence = $7::bigint AND lease_until IS NOT NULL
RETURNING machine
