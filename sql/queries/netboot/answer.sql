-- SPDX-License-Identifier: GPL-3.0-or-later
-- What is there for the agent of machine $1 (secret $2) from byte $3 on, at most 262,144 bytes. Columns:
-- received, data. No row: the offer is gone.
SELECT received, substring(to_agent FROM $3::integer + 1 FOR 262144) AS data FROM netboot
WHERE machine = $1 AND secret = $2
