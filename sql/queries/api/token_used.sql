-- SPDX-License-Identifier: GPL-3.0-or-later
-- Note that a token was used, at most once a minute. $1 id. No columns.
UPDATE token SET last_use = now()
WHERE id = $1 AND (last_use IS NULL OR last_use < now() - interval '1 minute')
