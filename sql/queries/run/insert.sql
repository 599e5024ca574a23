-- SPDX-License-Identifier: GPL-3.0-or-later
-- Run $2 of boot $1: $3 class, $4 detail or NULL, $5 raw or NULL, $6 exit status, $7 wall seconds. One row: id.
INSERT INTO run (boot, n, class, detail, raw, exit_status, wall_s)
VALUES ($1::bigint, $2::bigint, $3, $4, $5, $6::bigint, $7::float8) RETURNING id
