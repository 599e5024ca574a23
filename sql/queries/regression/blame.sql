-- SPDX-License-Identifier: GPL-3.0-or-later
-- The culprit of regression $1 is commit $2 with probability $3; the effect between its parent $4 and it is $5 (rel), $6, $7 (interval).
UPDATE regression SET culprit = $2, p = $3::float8, parent = $4, rel = $5::float8, lo = $6::float8, hi = $7::float8, updated = now()
WHERE id = $1
