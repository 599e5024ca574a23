-- SPDX-License-Identifier: GPL-3.0-or-later
-- Tree $1 was fetched; $2 what is odd about it, NULL for nothing. One row: is that new?
UPDATE tree t SET last_try = now(), last_ok = now(), failures = 0, last_error = $2
FROM (SELECT name, last_error FROM tree WHERE name = $1 FOR UPDATE) old
WHERE t.name = old.name RETURNING old.last_error IS DISTINCT FROM $2
