-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1 with the secret $2 fetches a file; $3 is its bit. Columns: kernel, initrd. No row: the offer is
-- gone.
UPDATE netboot SET events = events | $3::integer, last_seen = now() WHERE machine = $1 AND secret = $2
RETURNING kernel, initrd
