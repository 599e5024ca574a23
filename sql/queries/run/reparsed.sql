-- SPDX-License-Identifier: GPL-3.0-or-later
-- Run $1 was read again: class $2 (ok or parse), detail $3 or NULL. Its boot is good when any of its runs is.
WITH r AS (
	UPDATE run SET class = $2, detail = $3 WHERE id = $1::bigint RETURNING boot
)
UPDATE boot SET state = CASE WHEN good THEN 'done' ELSE 'failed' END, class = CASE WHEN good THEN 'ok' ELSE 'parse' END,
	detail = CASE WHEN good THEN NULL ELSE $3 END
FROM (SELECT r.boot, $2 = 'ok' OR EXISTS (SELECT FROM run o WHERE o.boot = r.boot AND o.id <> $1::bigint AND o.class = 'ok') AS good
	FROM r) x
WHERE boot.id = x.boot AND boot.class IN ('ok', 'parse')
