-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a head was compared with: the base of a later head when this one cannot be measured.
SELECT base FROM comparison
WHERE tree = $1 AND branch = $2 AND job = $3::bigint AND head = $4 AND base <> $5 AND purpose = 'head'
ORDER BY id DESC LIMIT 1
