-- SPDX-License-Identifier: GPL-3.0-or-later
-- Run $2 of boot $1: $3 class, $4 detail or NULL, $5 raw or NULL, $6 exit status, $7 wall seconds, $8 seconds of its commands or
-- NULL, $9 about it (JSON) or NULL, $10 seconds by our clock or NULL. One row: id.
INSERT INTO run (boot, n, class, detail, raw, exit_status, wall_s, run_s, about, host_s)
VALUES ($1::bigint, $2::bigint, $3, $4, $5, $6::bigint, $7::float8, $8::float8, $9::jsonb, $10::float8) RETURNING id
