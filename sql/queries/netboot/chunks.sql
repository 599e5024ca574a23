-- SPDX-License-Identifier: GPL-3.0-or-later
-- What the agent of machine $1 sent from byte $2 on, at most 16 pieces in order, while the offer has
-- secret $3. Columns: at_byte, data.
SELECT at_byte, data FROM netboot_chunk JOIN netboot USING (machine)
WHERE machine = $1 AND at_byte >= $2::bigint AND secret = $3 ORDER BY at_byte LIMIT 16
