-- SPDX-License-Identifier: GPL-3.0-or-later
-- Run $1 left file $2 as artefact $3; $4: not all of it.
INSERT INTO run_file (run, name, artefact, truncated) VALUES ($1::bigint, $2, $3, $4::boolean)
