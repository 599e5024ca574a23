-- SPDX-License-Identifier: GPL-3.0-or-later
-- Build $1 ended: $2 state, $3 fail class, $4 detail, $5 image, $6 config, $7 log, $8 GNU build id, $9 seconds, $10 list of
-- objects, $11 list of sources ($3 to $8, $10, $11 may be NULL). One row: commit. No row: it had ended before.
UPDATE build SET state = $2, fail_class = $3, detail = $4, image = $5, config = $6, log = $7,
	gnu_build_id = $8, took_s = $9::float8, objects = $10, deps = $11, finished = now()
WHERE id = $1::bigint AND state = 'wanted' RETURNING commit
