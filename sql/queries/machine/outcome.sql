-- SPDX-License-Identifier: GPL-3.0-or-later
-- Machine $1 gave a run ($2 NULL) or had a fault of its own ($2 why). The third fault in a row quarantines it.
-- Columns: health.
UPDATE machine SET faults = CASE WHEN $2::text IS NULL THEN 0 ELSE faults + 1 END,
	health = CASE WHEN $2::text IS NOT NULL AND faults >= 2 AND health = 'good' THEN 'quarantined' ELSE health END,
	note = coalesce($2, CASE WHEN health = 'good' THEN NULL ELSE note END), last_seen = now()
WHERE name = $1 RETURNING health
